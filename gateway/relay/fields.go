package relay

import (
	"slices"
	"strings"

	"warmpath/gateway/catalog"
	"warmpath/gateway/upstream"
	"warmpath/rewrite/anthropic"
)

// credentials are the header lines that hold a key in one dialect or another.
var credentials = []string{"authorization", "x-api-key", "x-goog-api-key", "api-key"}

// ownPrefix marks the gateway's own header lines, which no provider sees.
const ownPrefix = "warmpath-"

var uncompressed = upstream.Field{Name: []byte("Accept-Encoding"), Value: []byte("identity")}

// fields copies the client's header lines, in order, without what concerns only
// its connection or only the gateway, and puts the configured key in.
func (x *exchange) fields(unpacked bool) {
	connection := x.req.Field("connection")
	out := x.lines.up[:0]
	for _, field := range x.req.Fields {
		if x.forwards(field, connection, unpacked) {
			out = append(out, field)
		}
	}
	if x.plainReply() {
		// The tap reads the reply as it passes, and a stream must not be held
		// back by a compressor.
		out = append(out, uncompressed)
	}
	if key := x.target.Provider.Key; !key.IsZero() {
		out = append(out, keyField(x.target.Provider.KeyStyle, key.Reveal()))
	}
	if x.warmth != nil {
		out = withBetas(out, x.warmth.betas)
	}
	x.lines.up, x.out.Fields = out, out
}

// plainReply reports that the reply must not come compressed: it is read, or
// its refusal is.
func (x *exchange) plainReply() bool { return x.req.Operation.tapped() || x.warmth != nil }

// missing leaves out the betas that the client sends itself.
func (x *exchange) missing(betas []string) []string {
	return slices.DeleteFunc(betas, func(beta string) bool {
		return slices.ContainsFunc(x.req.Fields, func(f upstream.Field) bool {
			return f.Is("anthropic-beta") && anthropic.HasBeta(f.Value, beta)
		})
	})
}

// withBetas adds values to the first anthropic-beta line, or as a new one.
func withBetas(fields []upstream.Field, betas []string) []upstream.Field {
	if len(betas) == 0 {
		return fields
	}
	for i, field := range fields {
		if field.Is("anthropic-beta") {
			fields[i].Value = anthropic.MergeBetas(field.Value, betas...)
			return fields
		}
	}
	return append(fields, upstream.Field{Name: []byte("anthropic-beta"), Value: anthropic.MergeBetas(nil, betas...)})
}

func (x *exchange) forwards(field upstream.Field, connection []byte, unpacked bool) bool {
	name := field.Name
	switch {
	case upstream.HopByHop(name, connection):
		return false
	case field.Is("host"), field.Is("content-length"), field.Is("expect"):
		return false
	case len(name) > len(ownPrefix) && strings.EqualFold(string(name[:len(ownPrefix)]), ownPrefix):
		return false
	case unpacked && field.Is("content-encoding"):
		return false
	case x.plainReply() && field.Is("accept-encoding"):
		return false
	}
	return !x.replacesKey() || !slices.ContainsFunc(credentials, field.Is)
}

func keyField(style catalog.KeyStyle, key string) upstream.Field {
	switch style {
	case catalog.KeyAnthropic, catalog.KeyGoogle, catalog.KeyAzure:
		return upstream.Field{Name: []byte(style.String()), Value: []byte(key)}
	case catalog.KeyBearer, catalog.KeyNone, catalog.KeySigned:
	}
	return upstream.Field{Name: []byte("Authorization"), Value: []byte("Bearer " + key)}
}
