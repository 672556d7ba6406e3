package console

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/netip"
	"strings"

	"warmpath/gateway/secret"
)

// access decides who is let in.
type access struct {
	public bool
	open   bool // no token is asked for
	none   bool // a token is asked for and there is none
	digest [sha256.Size]byte
}

func newAccess(token secret.String, public bool) access {
	return access{
		public: public,
		open:   token.IsZero() && !public,
		none:   token.IsZero() && public,
		digest: sha256.Sum256([]byte(token.Reveal())),
	}
}

// host reports whether a request is meant for this address. A page from
// elsewhere can have its own name resolve to 127.0.0.1 and so read what is
// served here without a token; its requests still carry its name.
func (a *access) host(host []byte) bool {
	if a.public {
		return true
	}
	name := string(host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// token reports whether an Authorization header gives the token. Basic is for clients
// that know nothing else. A browser shows it for pages of other origins too, which is
// why those may change nothing.
func (a *access) token(header []byte) bool {
	if a.open || a.none {
		return a.open
	}
	scheme, given, _ := bytes.Cut(header, []byte(" "))
	switch {
	case bytes.EqualFold(scheme, []byte("Bearer")):
	case bytes.EqualFold(scheme, []byte("Basic")):
		login, err := base64.StdEncoding.AppendDecode(nil, given)
		if err != nil {
			return false
		}
		_, given, _ = bytes.Cut(login, []byte(":"))
	default:
		return false
	}
	return a.same(given)
}

// same reports whether what is given is the token. It takes as long whatever is given.
func (a *access) same(given []byte) bool {
	digest := sha256.Sum256(given)
	return !a.none && !a.open && subtle.ConstantTimeCompare(digest[:], a.digest[:]) == 1
}
