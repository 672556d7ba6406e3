package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

func TestTellUser(t *testing.T) {
	set := NewSet(Limits{}, NewTellUser())
	for _, arguments := range []string{`{}`, `{"message":""}`, `{"message":7}`, `{"message":["a"]}`, `{"message":null}`, `{"message":"cut`, ``, `[]`} {
		t.Run("TU-01 "+arguments, func(t *testing.T) {
			result := set.Run(t.Context(), Call{Name: TellUser, Arguments: rewrite.JSON(arguments)})
			if !result.Failed || len(result.Parts) != 1 || len(result.Parts[0].Annotations) > 0 || result.Parts[0].Text == "" {
				t.Errorf("gives %+v", result)
			}
		})
	}
	for name, message := range map[string]string{
		"plain":    "The build is green.",
		"markdown": "# Done\r\n\r\n- *one* \U0001F642\r\n- `two`\n\n\ttab \u2028 e\u0301",
		"long":     strings.Repeat("0123456789", 10<<10),
	} {
		t.Run("TU-02 TU-06 "+name, func(t *testing.T) {
			arguments := gjson.AppendJSONString([]byte(`{"message":`), message)
			got := set.Run(t.Context(), Call{Name: TellUser, Arguments: append(arguments, '}')})
			want := Result{Parts: []rewrite.Part{
				{Text: message, MIME: "text/markdown", Annotations: rewrite.JSON(`{"audience":["user"]}`)},
				{Text: "Message shown to user.", Annotations: rewrite.JSON(`{"audience":["assistant"]}`)},
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
