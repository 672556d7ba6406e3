package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func FuzzEnvelope(f *testing.F) {
	f.Add("anthropic", "messages/thinking", "2023-06-01", `{"signature":"a+/="}`)
	f.Add("", "", "", "\x00\x00")
	f.Fuzz(func(t *testing.T, provider, format, version, value string) {
		for _, name := range []string{provider, format, version} {
			for _, c := range []byte(name) {
				if c == 0 {
					t.Skip("names hold no zero bytes")
				}
			}
		}
		want := rewrite.Payload{Provider: provider, Format: format, Version: version, Value: rewrite.JSON(value)}
		got, ok := rewrite.OpenEnvelope(want.Envelope())
		if ok != (value != "") {
			t.Fatalf("%q: opened %v", value, ok)
		}
		if diff := cmp.Diff(want, got); ok && diff != "" {
			t.Error(diff)
		}
		if got, ok := rewrite.OpenEnvelope(value); ok && got.Empty() {
			t.Errorf("%q opens as nothing", value)
		}
	})
}
