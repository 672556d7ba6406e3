package front

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"strings"

	"warmpath/gateway/secret"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// ownKey is the header in which a client can show the gateway's key beside the
// provider's own.
const ownKey = "warmpath-key"

// access holds the keys of which a client must show one; none means that all
// clients are served. Only digests are compared, in constant time.
type access struct{ digests [][sha256.Size]byte }

func newAccess(keys []secret.String) *access {
	a := &access{}
	for _, key := range keys {
		a.digests = append(a.digests, sha256.Sum256([]byte(key.Reveal())))
	}
	return a
}

// admit looks for a key among the header lines and the query. Borrowed says that
// it stood where a provider's credential belongs, so that none of those may go on.
func (a *access) admit(fields []upstream.Field, query []byte) (borrowed bool, failure *rewrite.Failure) {
	if len(a.digests) == 0 {
		return false, nil
	}
	shown := false
	for _, field := range fields {
		switch {
		case field.Is(ownKey):
			shown = shown || a.knows(field.Value)
		case field.Is("x-api-key"), field.Is("x-goog-api-key"), field.Is("api-key"):
			borrowed = borrowed || a.knows(field.Value)
		case field.Is("authorization"):
			scheme, token, _ := bytes.Cut(field.Value, []byte(" "))
			borrowed = borrowed || bytes.EqualFold(scheme, []byte("bearer")) && a.knows(bytes.TrimSpace(token))
		}
	}
	for part := range bytes.SplitSeq(query, []byte("&")) {
		if key, ok := bytes.CutPrefix(part, []byte("key=")); ok {
			borrowed = borrowed || a.knows(key)
		}
	}
	if borrowed || shown {
		return borrowed, nil
	}
	return false, &rewrite.Failure{Reason: rewrite.ReasonUnauthorized,
		Message: "This gateway asks for a key of its own (access_keys). Send it as warmpath-key, or in place of the provider's key."}
}

// fromElsewhere refuses what a page in somebody's browser sends: a page of
// anybody's can reach this address from there, and would spend the gateway's keys.
// Pages from this machine are its user's own.
func fromElsewhere(fields []upstream.Field) *rewrite.Failure {
	for _, field := range fields {
		if !field.Is("origin") {
			continue
		}
		_, host, _ := strings.Cut(string(field.Value), "://")
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip != nil && ip.IsLoopback() {
			continue
		}
		return &rewrite.Failure{Reason: rewrite.ReasonForbidden,
			Message: "This gateway spends keys of its own and asks its clients for none, so it serves no pages of other origins. Set access_keys to serve them."}
	}
	return nil
}

func (a *access) knows(key []byte) bool {
	digest := sha256.Sum256(key)
	found := 0
	for i := range a.digests {
		found |= subtle.ConstantTimeCompare(digest[:], a.digests[i][:])
	}
	return found == 1
}
