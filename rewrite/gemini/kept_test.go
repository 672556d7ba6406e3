package gemini_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// keptIsJSON asks of everything that a reply keeps for its provider that it can
// be sent there.
func keptIsJSON(t testing.TB, r *rewrite.Reply) {
	t.Helper()
	check := func(p *rewrite.Payload) {
		if err := splice.Valid(p.Value); !p.Empty() && err != nil {
			t.Fatalf("%s: %v: %s", p.Format, err, p.Value)
		}
	}
	for i := range r.Items {
		item := &r.Items[i]
		check(&item.Payload)
		for j := range item.Parts {
			check(&item.Parts[j].Payload)
			for k := range item.Parts[j].Attributions {
				check(&item.Parts[j].Attributions[k].Payload)
			}
		}
	}
	for _, m := range r.Extra {
		if err := splice.Valid(m.Value); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
	}
}
