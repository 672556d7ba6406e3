package responses_test

import (
	"path/filepath"
	"testing"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// FuzzDecodeRequest asks that what can be read can be written for anybody, and
// that what was written for its own provider, with nothing lost, is written the
// same when it is read again.
func FuzzDecodeRequest(f *testing.F) {
	paths, _ := filepath.Glob("testdata/requests/*.txt")
	for _, path := range paths {
		f.Add([]byte(show.Load(f, path).Text("request")))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := responses.DecodeRequest(body, "p")
		if err != nil {
			return
		}
		var l rewrite.Losses
		if other, err := responses.EncodeRequest(c, "q", &l); err != nil || splice.Valid(other) != nil {
			t.Fatalf("%v: %s", err, other)
		}
		c, _ = responses.DecodeRequest(body, "p")
		l = rewrite.Losses{}
		own, err := responses.EncodeRequest(c, "p", &l)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.All) > 0 {
			return
		}
		again, err := responses.DecodeRequest(own, "p")
		if err != nil {
			t.Fatalf("%v: %s", err, own)
		}
		second, err := responses.EncodeRequest(again, "p", nil)
		if err != nil || string(second) != string(own) {
			t.Fatalf("written again (%v):\n%s\n%s", err, own, second)
		}
	})
}
