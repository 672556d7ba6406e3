package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// V10: what a tool has meant for people alone does not reach the model, and nothing
// that it says of its blocks does; what is left of a result is the same every time.
func TestAudience(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"for everybody":        {`[{"type":"text","text":"a"},{"type":"text","text":"b","annotations":{"priority":0}}]`, `[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]`},
		"for the model":        {`[{"type":"text","text":"a","annotations":{"audience":["assistant"]}}]`, `"a"`},
		"for both":             {`[{"type":"text","text":"a","annotations":{"audience":["user","assistant"],"lastModified":"2026-01-01T00:00:00Z"},"mimeType":"text/plain"}]`, `"a"`},
		"for people alone":     {`[{"type":"text","text":"a","annotations":{"audience":["user"]}},{"type":"text","text":"b"}]`, `"b"`},
		"all for people alone": {`[{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"audience":["user"]}}]`, `"Tool executed successfully."`},
		"for nobody named":     {`[{"type":"text","text":"a","annotations":{"audience":[]}}]`, `"a"`},
		"an audience of none":  {`[{"type":"text","text":"a","annotations":{"audience":null}}]`, `"a"`},
		"nothing":              {`[]`, `"Tool executed successfully."`},
		"a plain one":          {`"a"`, `"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			item := `{"type":"function_call_output","call_id":"c_1","output":` + c.output + `}`
			for _, item := range []string{item, strings.Replace(item, `"call_id"`, `"isError":false,"call_id"`, 1)} {
				if strings.Contains(item, "isError") && (c.output[0] == '"' || c.output == "[]") {
					continue // kept as it is, for providers that know the member
				}
				request := []byte(`{"model":"m","input":[{"type":"function_call","call_id":"c_1","name":"n","arguments":"{}"},` + item + `]}`)
				changes, err := responses.Audience.Find(request)
				if err != nil {
					t.Fatal(err)
				}
				for _, change := range changes {
					request = splice.Apply(nil, request, change.Edits)
				}
				body, _ := encode(t, decode(t, string(request), "openai"), "openai")
				if diff := cmp.Diff(c.want, gjson.Get(body, "input.1.output").Raw); diff != "" {
					t.Errorf("%s in %s", diff, body)
				}
			}
		})
	}
}
