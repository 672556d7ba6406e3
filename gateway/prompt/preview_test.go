package prompt_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/tidwall/gjson"

	"warmpath/gateway/prompt"
	"warmpath/rewrite"
)

func TestPreview(t *testing.T) {
	key, token := "sk-"+strings.Repeat("x", 24), "ghp_"+strings.Repeat("x", 24)
	for _, tc := range []struct{ name, arguments, want string }{
		{"WT-11 plain", `{"path":"a.txt","n":[1,true,null]}`, `{"path":"a.txt","n":[1,true,null]}`},
		{"WT-11 secret names", `{"password":"x","apiKey":"y","api_key":7,"Authorization":"z","db":{"access_token":["a"]},"max_tokens":5,"empty_secret":""}`,
			`{"password":"***","apiKey":"***","api_key":"***","Authorization":"***","db":{"access_token":"***"},"max_tokens":5,"empty_secret":""}`},
		{"WT-11 secret values", `{"note":"use ` + key + ` now","url":"https://u:pw@host/x","list":["` + token + `"]}`,
			`{"note":"use *** now","url":"https***host/x","list":["***"]}`},
		{"WT-11 secret as a name", `{"AKIA` + strings.Repeat("X", 16) + `":1}`, `{"***":1}`},
		{"WT-11 control characters", `{"a\u001b[2J":"b\u202ec\u0007\nd"}`, `{"a[2J":"bc\nd"}`},
		{"WT-11 no JSON", `{"path":"cut password=` + key, `"{\"path\":\"cut password=***"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := prompt.Preview(rewrite.JSON(tc.arguments)); got != tc.want {
				t.Errorf("shows %s\nwant  %s", got, tc.want)
			}
		})
	}
	t.Run("WT-11 long ones are cut", func(t *testing.T) {
		arguments := `{"a":"` + strings.Repeat("é", 5000) + `"` + strings.Repeat(`,"b":[1,2,"`+strings.Repeat("x", 900)+`"]`, 100) + `}`
		got := prompt.Preview(rewrite.JSON(arguments))
		if !gjson.Valid(got) || len(got) > 8<<10 {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
	})
	t.Run("WT-11 deep ones are cut", func(t *testing.T) {
		got := prompt.Preview(rewrite.JSON(strings.Repeat(`{"a":`, 500) + `1` + strings.Repeat(`}`, 500)))
		if !gjson.Valid(got) || len(got) > 1<<10 {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
	})
}

// What is shown of any arguments is valid, bounded, and without what hides text.
func FuzzPreview(f *testing.F) {
	f.Add([]byte(`{"a":[{"password":"x"}],"b":"\u202e"}`))
	f.Add([]byte(`[`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		got := prompt.Preview(arguments)
		if !gjson.Valid(got) || len(got) > 64<<10 {
			t.Fatalf("%d bytes of no use: %.100q", len(got), got)
		}
		for _, r := range gjson.Parse(got).String() {
			if r != '\n' && r != '\t' && unicode.IsControl(r) && gjson.Valid(string(arguments)) {
				t.Fatalf("control character %U", r)
			}
		}
	})
}
