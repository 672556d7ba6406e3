package rewrite_test

import (
	"strings"
	"testing"

	"warmpath/rewrite"
)

// The grammar of a custom tool is told to who has words for it, and listed as lost by
// all others.
func TestGrammarsAcrossDialects(t *testing.T) {
	asked := map[rewrite.Dialect]string{
		rewrite.Completions: `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"custom","custom":{"name":"p","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: A"}}}}]}`,
		rewrite.Responses:   `{"model":"m","input":"hi","tools":[{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"start: A"}}]}`,
	}
	told := map[rewrite.Dialect]string{
		rewrite.Completions: `"format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: A"}}`,
		rewrite.Responses:   `"format":{"type":"grammar","syntax":"lark","definition":"start: A"}`,
	}
	for from, body := range asked {
		for to, codec := range codecs {
			c, err := codecs[from].decodeRequest([]byte(body), "away")
			if err != nil {
				t.Fatal(err)
			}
			var losses rewrite.Losses
			out, err := codec.encodeRequest(c, "home", &losses)
			if err != nil {
				t.Fatal(err)
			}
			if want := told[to]; want != "" && (!strings.Contains(string(out), want) || len(losses.All) > 0) ||
				want == "" && (len(losses.All) != 1 || losses.All[0].Path != "tools.0.format") {
				t.Errorf("%s to %s: %s\n%v", from, to, out, losses.All)
			}
		}
	}
}
