package audience

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// What a client has packed into a text is told apart for the log, if it is not for
// everybody.
func TestUnpack(t *testing.T) {
	const user, model = `{"audience":["user"]}`, `{"audience":["assistant"]}`
	const blocks = `[{"type":"text","text":"a","annotations":` + user + `},{"type":"text","text":"b","mimeType":"text/markdown","annotations":` + model + `},{"type":"text","text":"c"}]`
	want := []rewrite.Part{{Text: "a", Annotations: rewrite.JSON(user)}, {Text: "b", MIME: "text/markdown", Annotations: rewrite.JSON(model)}, {Text: "c"}}
	for name, c := range map[string]struct {
		text   string
		want   []rewrite.Part
		failed bool
	}{
		"a list":                  {blocks, want, false},
		"a result":                {` {"content":` + blocks + `,"structuredContent":{"a":1}}`, want, false},
		"a failure":               {`{"isError":true,"content":` + blocks + `}`, want, true},
		"under a name":            {`{"result":{"content":` + blocks + `}}`, want, false},
		"a list under a name":     {`{"error":` + blocks + `}`, want, true},
		"a string":                {`"[{\"type\":\"text\",\"text\":\"a\",\"annotations\":{\"audience\":[\"user\"]}}]"`, want[:1], false},
		"an image":                {`[{"type":"image","data":"AAAA","mimeType":"image/png","annotations":` + user + `}]`, []rewrite.Part{{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: "AAAA"}, Annotations: rewrite.JSON(user)}}, false},
		"for everybody":           {`[{"type":"text","text":"a","annotations":{"audience":["user","assistant"]}}]`, nil, false},
		"what is no block":        {`[{"type":"text","text":"a","annotations":` + user + `},1]`, nil, false},
		"what is no JSON":         {blocks + "]", nil, false},
		"a text":                  {"the audience", nil, false},
		"nothing":                 {"", nil, false},
		"white space":             {" ", nil, false},
		"strings without end":     {strings.Repeat(`"`, 99), nil, false},
		"another document":        {`{"output":{"audience":1}}`, nil, false},
		"a document under a name": {`{"output":"audience"}`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			given := []rewrite.Part{{Text: "before"}, {Text: c.text}, {Kind: rewrite.PartImage}}
			if c.want == nil {
				c.want = given[1:2]
			}
			want := append(append([]rewrite.Part{given[0]}, c.want...), given[2])
			got, failed := Unpack(given)
			if diff := cmp.Diff(want, got); diff != "" || failed != c.failed {
				t.Errorf("failed is %v; %s", failed, diff)
			}
		})
	}
}
