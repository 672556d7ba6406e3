package catalog

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Base is the address of a provider for one dialect: where to connect and what
// stands before the request's own path.
type Base struct {
	// TLS says that the scheme is https.
	TLS bool
	// Host is the host as it stands in the URL, with its port only if one was
	// given; it is what the Host header says.
	Host string
	// Address is the host and port to connect to.
	Address string

	// path is escaped and has no slash at its end; empty for none.
	path string
	// stem is path without its version, and version that last segment, if it
	// is one.
	stem    string
	version string
}

// ParseBase reads a base URL. The error never repeats the URL: a mistaken one
// may hold a password or a key.
func ParseBase(raw string) (*Base, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("is not a URL; write it like https://api.example.com/v1")
	}
	base := &Base{Host: u.Host}
	port := "80"
	switch u.Scheme {
	case "https":
		base.TLS, port = true, "443"
	case "http":
	default:
		return nil, errors.New("must begin with https:// or http://")
	}
	if u.User != nil {
		return nil, errors.New("must not hold a user name or password; put the credential into key")
	}
	if u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#") {
		return nil, errors.New("must not hold a query or a fragment; give the address and path only")
	}
	if u.Hostname() == "" {
		return nil, errors.New("names no host; write it like https://api.example.com/v1")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, errors.New("has a port that is not a number from 1 to 65535")
		}
		port = p
	} else if strings.HasSuffix(u.Host, ":") {
		return nil, errors.New("has a colon but no port after the host")
	}
	base.Address = net.JoinHostPort(u.Hostname(), port)
	if err := base.setPath(u.EscapedPath()); err != nil {
		return nil, err
	}
	return base, nil
}

func (b *Base) setPath(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return errors.New("has . or .. in its path; write the path out")
		}
	}
	b.path = strings.TrimRight(path, "/")
	b.stem = b.path
	if cut := strings.LastIndexByte(b.path, '/'); cut >= 0 && isVersion(b.path[cut+1:]) {
		b.stem, b.version = b.path[:cut], b.path[cut+1:]
	}
	return nil
}

// Join is the raw path to request for an incoming raw path, both as they stand
// in the request line, without the query. The base keeps its path. If that ends
// in a version and the incoming path begins with /v1 or with the same version,
// the incoming version is dropped: clients put /v1 in front of paths wherever
// the provider's own version may stand.
func (b *Base) Join(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if b.version == "" {
		return b.path + path
	}
	first, rest := path[1:], ""
	if cut := strings.IndexByte(first, '/'); cut >= 0 {
		first, rest = first[:cut], first[cut:]
	}
	switch first {
	case b.version:
		if b.stem == "" {
			return path
		}
		return b.stem + path
	case "v1":
		return b.path + rest
	}
	return b.path + path
}

// String is the base as a URL.
func (b *Base) String() string {
	scheme := "http://"
	if b.TLS {
		scheme = "https://"
	}
	return scheme + b.Host + b.path
}

// isVersion matches v\d+[a-z0-9]*: v1, v1beta, v4.
func isVersion(segment string) bool {
	if len(segment) < 2 || segment[0] != 'v' || segment[1] < '0' || segment[1] > '9' {
		return false
	}
	for _, c := range []byte(segment[2:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
