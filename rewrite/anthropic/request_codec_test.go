package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

// decode reads a request that is one.
func decode(t testing.TB, body, provider string) *rewrite.Conversation {
	t.Helper()
	c, err := anthropic.DecodeRequest([]byte(body), provider)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encode writes a conversation and gives what was lost, a line for each.
func encode(t testing.TB, c *rewrite.Conversation, provider string) (body, lost string) {
	t.Helper()
	var losses rewrite.Losses
	out, err := anthropic.EncodeRequest(c, provider, &losses)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, loss := range losses.All {
		lines = append(lines, loss.Path+": "+loss.Why)
	}
	return string(out), strings.Join(lines, "\n")
}

// What a client says goes back to its provider in the same meaning, and to
// another without what only that one can read (PP-01, RP-01, RP-02).
func TestRequestsGolden(t *testing.T) {
	show.Each(t, "testdata/requests", func(t *testing.T, f *show.File) {
		body, _ := f.Section("request")
		c := decode(t, body, "home")
		f.Want(t, *update, "conversation", show.Value(c))
		home, lost := encode(t, c, "home")
		f.Want(t, *update, "encoded", home)
		f.Want(t, *update, "losses", lost)

		if diff := cmp.Diff(c, decode(t, home, "home"), show.AnyPath, cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })); diff != "" {
			t.Errorf("decoded again: %s", diff)
		}
		if again, _ := encode(t, decode(t, home, "home"), "home"); again != home {
			t.Errorf("encoded again: %s", again)
		}
		away, lost := encode(t, c, "away")
		if away == home {
			away = ""
		}
		f.Want(t, *update, "elsewhere", away)
		f.Want(t, *update, "losses elsewhere", lost)
	})
}
