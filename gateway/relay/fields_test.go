package relay

import (
	"net/textproto"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/catalog"
	"warmpath/gateway/secret"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

func TestFields(t *testing.T) {
	from := []string{
		"Host", "gateway", "Content-Length", "5", "Connection", "keep-alive, X-Hop", "Keep-Alive", "x", "X-Hop", "x", "TE", "trailers",
		"authorization", "Bearer theirs", "X-API-Key", "theirs", "x-goog-api-key", "theirs", "api-key", "theirs",
		"Accept-Encoding", "gzip", "Warmpath-Mode", "off", "WARMPATH-KEY", "gate", "anthropic-beta", "a", "anthropic-beta", "b", "Expect", "100-continue",
		"Content-Encoding", "zstd",
	}
	all := []string{"authorization: Bearer theirs", "X-API-Key: theirs", "x-goog-api-key: theirs", "api-key: theirs"}
	tests := map[string]struct {
		operation Operation
		own       bool
		key       string
		style     catalog.KeyStyle
		unpacked  bool
		want      []string
	}{
		"forwarded unread": {operation: OpOther,
			want: append(all[:4:4], "Accept-Encoding: gzip", "anthropic-beta: a", "anthropic-beta: b", "Content-Encoding: zstd")},
		"read on its way": {operation: OpGenerate,
			want: append(all[:4:4], "anthropic-beta: a", "anthropic-beta: b", "Content-Encoding: zstd", "Accept-Encoding: identity")},
		"edited": {operation: OpGenerate, unpacked: true,
			want: append(all[:4:4], "anthropic-beta: a", "anthropic-beta: b", "Accept-Encoding: identity")},
		"the gateway's own key": {operation: OpOther, own: true,
			want: []string{"Accept-Encoding: gzip", "anthropic-beta: a", "anthropic-beta: b", "Content-Encoding: zstd"}},
		"configured bearer": {operation: OpOther, key: "ours", style: catalog.KeyBearer,
			want: []string{"Accept-Encoding: gzip", "anthropic-beta: a", "anthropic-beta: b", "Content-Encoding: zstd", "Authorization: Bearer ours"}},
		"configured x-api-key": {operation: OpOther, key: "ours", style: catalog.KeyAnthropic,
			want: []string{"Accept-Encoding: gzip", "anthropic-beta: a", "anthropic-beta: b", "Content-Encoding: zstd", "x-api-key: ours"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := &Request{Dialect: rewrite.Messages, Operation: test.operation, OwnKey: test.own}
			for i := 0; i < len(from); i += 2 {
				req.Fields = append(req.Fields, upstream.Field{Name: []byte(from[i]), Value: []byte(from[i+1])})
			}
			x := &exchange{req: req, lines: new(lines), target: catalog.Target{Provider: &catalog.Provider{Key: secret.New(test.key), KeyStyle: test.style}}}
			x.fields(test.unpacked)
			var got []string
			for _, field := range x.out.Fields {
				got = append(got, string(field.Name)+": "+string(field.Value))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQueryKeepsAllButAForeignKey(t *testing.T) {
	for query, want := range map[string]string{
		"":                      "",
		"alt=sse":               "alt=sse",
		"key=k":                 "",
		"alt=sse&key=k&beta=a":  "alt=sse&beta=a",
		"monkey=1&key=k&x=key=": "monkey=1&x=key=",
	} {
		x := &exchange{req: &Request{OwnKey: true, Query: []byte(query)}, target: catalog.Target{Provider: &catalog.Provider{}}}
		if got := string(x.query()); got != want {
			t.Errorf("query %q became %q, want %q", query, got, want)
		}
		x.req.OwnKey = false
		if got := string(x.query()); got != query {
			t.Errorf("query %q became %q with the client's own key", query, got)
		}
	}
}

// The credentials to take out are those that some provider's key style names.
func TestEveryKeyStyleIsACredential(t *testing.T) {
	known := map[string]bool{}
	for _, name := range credentials {
		known[textproto.CanonicalMIMEHeaderKey(name)] = true
	}
	for _, style := range catalog.KeyStyles {
		if name := string(keyField(style, "k").Name); !known[textproto.CanonicalMIMEHeaderKey(name)] {
			t.Errorf("style %s puts its key into %s, which is not taken out", style, name)
		}
	}
}
