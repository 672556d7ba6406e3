package relay

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/tidwall/gjson"

	"warmpath/gateway/upstream"
)

// scope names whose conversation a request can belong to: the tenant, the
// endpoint, the model. It is only ever hashed.
func (x *exchange) scope() string {
	x.tenant = x.req.tenant()
	return strings.Join([]string{x.tenant, x.target.Provider.Name, x.target.Base.String(), x.target.Model}, "\x00")
}

// session is what the client calls the conversation, empty if it has no name
// for it. Agents that work for another agent have their own.
func session(fields []upstream.Field) string {
	var own, shared, agent []byte
	for _, field := range fields {
		switch {
		case field.Is(conversationField):
			own = field.Value
		case field.Is("x-claude-code-session-id"):
			shared = field.Value
		case field.Is("x-claude-code-agent-id"):
			agent = field.Value
		}
	}
	switch {
	case len(own) > 0:
		return digest("own", own)
	case len(shared) > 0:
		return digest("shared", shared, agent)
	}
	return ""
}

// digest names values by a hash, so that none of them is kept.
func digest(kind string, values ...[]byte) string {
	sum := sha256.Sum256(append([]byte(kind+"\x00"), bytes.Join(values, []byte{0})...))
	return hex.EncodeToString(sum[:12])
}

// Tenant is the digest of who is asking: the same for each request with the same
// credential, and of no use to anybody else.
func (r *Request) Tenant() string {
	sum := sha256.Sum256([]byte("tenant\x00" + r.tenant()))
	return hex.EncodeToString(sum[:])
}

// tenant is who is asking, by the credential wherever it stands.
func (r *Request) tenant() string {
	who := tenant(r.Fields)
	if key := queryKey(r.Query); len(key) > 0 {
		who += "\x00query\x00" + string(key)
	}
	return who
}

// queryKey is the credential in a query; nil for none.
func queryKey(query []byte) []byte {
	for part := range bytes.SplitSeq(query, []byte("&")) {
		if key, ok := bytes.CutPrefix(part, []byte("key=")); ok {
			return key
		}
	}
	return nil
}

// tenant is who is asking, by the credential in header lines. A token that is renewed every
// hour must not end a conversation, so a signed one counts by its subject, and
// an opaque one of a login together with the session that the client names.
// Two tenants are never taken for one.
func tenant(fields []upstream.Field) string {
	var key, token, session []byte
	for _, field := range fields {
		switch {
		case field.Is("x-api-key"), field.Is("x-goog-api-key"), field.Is("api-key"), field.Is("warmpath-key"):
			key = append(append(key, 0), field.Value...)
		case field.Is("authorization"):
			scheme, rest, _ := bytes.Cut(field.Value, []byte(" "))
			if token = bytes.TrimSpace(rest); !bytes.EqualFold(scheme, []byte("bearer")) {
				token = field.Value
			}
		case field.Is("x-claude-code-session-id"):
			session = field.Value
		}
	}
	// A key may be shared by many who each show a token beside it.
	who := "key" + string(key) + "\x00"
	switch subject, signed := subjectOf(token); {
	case signed:
		return who + "subject\x00" + subject
	case len(session) > 0 && bytes.HasPrefix(token, []byte("sk-ant-oat")):
		return who + "session\x00" + string(session)
	}
	return who + "token\x00" + string(token)
}

// subjectOf reads issuer and subject of a signed token. The signature is the
// provider's to check: who forges a subject finds at most that his own request
// is planned as if it went on with a conversation whose messages he knows.
func subjectOf(token []byte) (subject string, ok bool) {
	parts := bytes.Split(token, []byte("."))
	if len(parts) != 3 {
		return "", false
	}
	claims, err := base64.RawURLEncoding.DecodeString(string(parts[1]))
	if err != nil || !gjson.ValidBytes(claims) {
		return "", false
	}
	issuer, name := gjson.GetBytes(claims, "iss").String(), gjson.GetBytes(claims, "sub").String()
	return issuer + "\x00" + name, name != ""
}
