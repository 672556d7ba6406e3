package catalog

import (
	"strings"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/continuity"
)

// Provider is one party that answers requests. Its fields are shared by every
// request and must not be changed.
type Provider struct {
	// Name is its name in configuration, in model prefixes and in metrics.
	Name string
	// Label is its name for people.
	Label string
	// Dialects are those it speaks, in the order of rewrite.Dialects.
	Dialects []rewrite.Dialect
	// Native is the dialect that requests are translated to which come in one that
	// it does not speak: the first that its row lists.
	Native rewrite.Dialect
	// Bases has an address for each of Dialects, and one for rewrite.Opaque.
	Bases map[rewrite.Dialect]*Base
	// Endpoint is the kind of endpoint that it is, which decides what its models
	// accept; empty for one that is only compatible with some vendor's.
	Endpoint string
	// Mode is the most that is done for requests to it.
	Mode rewrite.Mode
	// Continue asks models that were cut off at their bound on tokens to go on.
	Continue bool
	// LeavesOut lets translated requests go on without tools that the provider has
	// none like of, in place of refusing them.
	LeavesOut bool
	// KeyStyle says where its key goes in a request.
	KeyStyle KeyStyle
	// Key is the key from configuration; none means that the client's own
	// credential is used.
	Key secret.String
	// Region is where a cloud's endpoint stands, if it was said.
	Region string
	// Signing is what requests are signed with, if the key style asks for that.
	Signing Signing
	// Habits are how its Chat Completions differ from the inventor's.
	Habits completions.Habits
	// Own are the abilities that configuration gives its models, by name.
	Own map[string]continuity.Abilities
}

// Speaks reports whether the provider has an address for the dialect.
// Opaque traffic is spoken by all of them.
func (p *Provider) Speaks(d rewrite.Dialect) bool { return p.Bases[d] != nil }

// Open reports whether it answers without a credential of the client's: it has a
// key of its own, or asks for none.
func (p *Provider) Open() bool { return p.KeyStyle == KeyNone || p.HasKey() }

// HasKey reports whether it has a key or credentials of its own.
func (p *Provider) HasKey() bool { return !p.Key.IsZero() || !p.Signing.AccessKey.IsZero() }

// spoken lists the dialects for a message.
func (p *Provider) spoken() string {
	names := make([]string, len(p.Dialects))
	for i, d := range p.Dialects {
		names[i] = d.String()
	}
	return strings.Join(names, ", ")
}

// KeyStyle is the place of a provider's key in a request.
type KeyStyle uint8

// The key styles, each named for the header it uses. KeyNone is for servers
// that ask for no key, KeySigned for requests that are signed.
const (
	KeyNone KeyStyle = iota
	KeyBearer
	KeyAnthropic
	KeyGoogle
	KeyAzure
	KeySigned
)

// KeyStyles lists every style, for tables and messages.
var KeyStyles = []KeyStyle{KeyNone, KeyBearer, KeyAnthropic, KeyGoogle, KeyAzure, KeySigned}

// String is the style's name in configuration.
func (k KeyStyle) String() string {
	switch k {
	case KeyBearer:
		return "bearer"
	case KeyAnthropic:
		return "x-api-key"
	case KeyGoogle:
		return "x-goog-api-key"
	case KeyAzure:
		return "api-key"
	case KeySigned:
		return "sigv4"
	case KeyNone:
		return "none"
	}
	return "none"
}

// ParseKeyStyle is the inverse of String; ok is false for an unknown name.
func ParseKeyStyle(name string) (k KeyStyle, ok bool) {
	for _, k := range KeyStyles {
		if k.String() == name {
			return k, true
		}
	}
	return KeyNone, false
}
