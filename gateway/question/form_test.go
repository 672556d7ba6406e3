package question_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

func TestForm(t *testing.T) {
	titled := question.Question{Key: "q1", Kind: question.Choice, Text: "Which?", Options: []question.Option{{Value: "a", Label: "Alpha"}, {Value: "b", Label: "Beta"}}}
	many := titled
	many.Kind = question.Multi
	for name, c := range map[string]struct {
		question question.Question
		property string
		required bool
	}{
		"FM-01 choice":               {ask(question.Choice, "Which?", "a", "b"), `{"type":"string","title":"Which?","enum":["a","b"]}`, true},
		"FM-01 choice with titles":   {titled, `{"type":"string","title":"Which?","oneOf":[{"const":"a","title":"Alpha"},{"const":"b","title":"Beta"}]}`, true},
		"FM-01 choice with default":  {with(titled, `"b"`), `{"type":"string","title":"Which?","oneOf":[{"const":"a","title":"Alpha"},{"const":"b","title":"Beta"}],"default":"b"}`, false},
		"FM-02 multi":                {ask(question.Multi, "Which?", "a", "b"), `{"type":"array","title":"Which?","items":{"type":"string","enum":["a","b"]}}`, true},
		"FM-02 multi with titles":    {with(many, `["a"]`), `{"type":"array","title":"Which?","items":{"anyOf":[{"const":"a","title":"Alpha"},{"const":"b","title":"Beta"}]},"default":["a"]}`, false},
		"FM-03 text":                 {ask(question.Text, "What?"), `{"type":"string","title":"What?"}`, true},
		"FM-03 text with context":    {question.Question{Key: "q1", Kind: question.Text, Text: "What?", Context: "For the log."}, `{"type":"string","title":"What?","description":"For the log."}`, true},
		"FM-03 text left open":       {question.Question{Key: "q1", Kind: question.Text, Text: "What?", Optional: true}, `{"type":"string","title":"What?"}`, false},
		"FM-03 secret text":          {question.Question{Key: "q1", Kind: question.Text, Text: "What?", Secret: true}, `{"type":"string","title":"What?","writeOnly":true}`, true},
		"FM-04 confirm":              {ask(question.Confirm, "Sure?"), `{"type":"boolean","title":"Sure?"}`, true},
		"FM-04 confirm with default": {with(ask(question.Confirm, "Sure?"), `false`), `{"type":"boolean","title":"Sure?","default":false}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := `{"type":"object","properties":{"q1":` + c.property + `}}`
			if c.required {
				want = strings.TrimSuffix(want, "}") + `,"required":["q1"]}`
			}
			form := question.Form([]question.Question{c.question})
			if string(form) != want {
				t.Errorf("Form:\n%s, want\n%s", form, want)
			}
			back, err := question.FromForm(form)
			if diff := cmp.Diff([]question.Question{c.question}, back); diff != "" || err != nil {
				t.Errorf("FromForm(Form): %v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Run("FM-05 keys, titles and what is required", func(t *testing.T) {
		questions, _ := question.Normalize(rewrite.JSON(question.Example))
		golden(t, "form.json", string(question.Form(questions))+"\n")
		again, _ := question.Normalize(rewrite.JSON(question.Example))
		if string(question.Form(questions)) != string(question.Form(again)) {
			t.Error("the same call gives another form")
		}
	})
}

// formCases are properties of servers' forms, named p, and what they become.
var formCases = []struct {
	name, schema string
	want         question.Question
}{
	{"FM-08 a string", `{"type":"string","title":"Name","description":"Yours"}`, question.Question{Kind: question.Text, Text: "Name", Context: "Yours"}},
	{"FM-08 no title", `{"type":"string"}`, question.Question{Kind: question.Text, Text: "p", Schema: rewrite.JSON(`{"type":"string"}`)}},
	{"FM-08 an enum with names", `{"type":"string","title":"T","enum":["a","b"],"enumNames":["A","B"]}`, question.Question{Kind: question.Choice, Text: "T",
		Options: []question.Option{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}, Schema: rewrite.JSON(`{"type":"string","title":"T","enum":["a","b"],"enumNames":["A","B"]}`)}},
	{"FM-08 one of titled", `{"type":"string","title":"T","oneOf":[{"const":"a","title":"A"}]}`, question.Question{Kind: question.Choice, Text: "T", Options: []question.Option{{Value: "a", Label: "A"}}}},
	{"FM-08 an array", `{"type":"array","title":"T","minItems":1,"items":{"type":"string","enum":["a","b"]}}`, question.Question{Kind: question.Multi, Text: "T", Options: options("a", "b"),
		Schema: rewrite.JSON(`{"type":"array","title":"T","minItems":1,"items":{"type":"string","enum":["a","b"]}}`)}},
	{"FM-08 an array of titled", `{"type":"array","title":"T","items":{"anyOf":[{"const":"a","title":"A"}]}}`, question.Question{Kind: question.Multi, Text: "T", Options: []question.Option{{Value: "a", Label: "A"}}}},
	{"FM-08 a boolean", `{"type":"boolean","title":"T","default":true}`, with(question.Question{Kind: question.Confirm, Text: "T"}, `true`)},
	{"FM-08 an integer becomes a text", `{"type":"integer","title":"T","minimum":1,"maximum":9}`, question.Question{Kind: question.Text, Text: "T", Schema: rewrite.JSON(`{"type":"integer","title":"T","minimum":1,"maximum":9}`)}},
	{"FM-08 a number becomes a text", `{"type":"number","title":"T","default":0.50}`, with(question.Question{Kind: question.Text, Text: "T", Schema: rewrite.JSON(`{"type":"number","title":"T","default":0.50}`)}, `0.50`)},
	{"FM-08 a default before the rest", `{"default":"x","type":"string","title":"T"}`, with(question.Question{Kind: question.Text, Text: "T", Schema: rewrite.JSON(`{"default":"x","type":"string","title":"T"}`)}, `"x"`)},
	{"a format", `{"type":"string","title":"T","format":"email"}`, question.Question{Kind: question.Text, Text: "T", Schema: rewrite.JSON(`{"type":"string","title":"T","format":"email"}`)}},
	{"a format that is typed unseen", `{"type":"string","title":"T","format":"password"}`, question.Question{Kind: question.Text, Text: "T", Secret: true, Schema: rewrite.JSON(`{"type":"string","title":"T","format":"password"}`)}},
	{"members that say nothing", `{"type":"string","title":"T","x":1}`, question.Question{Kind: question.Text, Text: "T", Schema: rewrite.JSON(`{"type":"string","title":"T","x":1}`)}},
}

func TestFromForm(t *testing.T) {
	for _, c := range formCases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Key, c.want.Optional = "p", len(c.want.Default) == 0
			got, err := question.FromForm(rewrite.JSON(`{"type":"object","properties":{"p":` + c.schema + `}}`))
			if diff := cmp.Diff([]question.Question{c.want}, got); diff != "" || err != nil {
				t.Errorf("FromForm: %v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Run("order and what is required", func(t *testing.T) {
		got, err := question.FromForm(rewrite.JSON(`{"required":["a"],"properties":{"z":{"type":"string"},"a":{"type":"string"}}}`))
		if err != nil || len(got) != 2 || got[0].Key != "z" || !got[0].Optional || got[1].Optional {
			t.Errorf("%v, %v", got, err)
		}
	})
	for _, empty := range []string{``, `null`, `{}`, `{"type":"object"}`, `{"type":"object","properties":{}}`} {
		t.Run("no questions in "+empty, func(t *testing.T) {
			if got, err := question.FromForm(rewrite.JSON(empty)); got != nil || err != nil {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestFromFormRefuses(t *testing.T) {
	for name, c := range map[string]struct{ property, want string }{
		"FM-09 nested":                {`{"type":"object","properties":{"x":{"type":"string"}}}`, "nested"},
		"FM-09 an object":             {`{"type":"object"}`, "of a type that forms do not have"},
		"FM-09 no type":               {`{"title":"T"}`, "of a type that forms do not have"},
		"FM-09 several types":         {`{"type":["string","null"]}`, "of a type that forms do not have"},
		"FM-09 no schema":             {`true`, "no schema"},
		"FM-09 an array of anything":  {`{"type":"array"}`, "array of something else"},
		"FM-09 an array of texts":     {`{"type":"array","items":{"type":"string"}}`, "array of something else"},
		"FM-09 an array of arrays":    {`{"type":"array","items":{"type":"array"}}`, "array of something else"},
		"FM-09 an array of nothing":   {`{"type":"array","items":{"anyOf":[]}}`, "lists 0 values"},
		"FM-09 an empty enum":         {`{"type":"string","enum":[]}`, "lists 0 values"},
		"FM-09 an enum of numbers":    {`{"type":"string","enum":[1]}`, "no string"},
		"FM-09 a value twice":         {`{"type":"string","enum":["a","a"]}`, "twice"},
		"FM-09 fewer names":           {`{"type":"string","enum":["a","b"],"enumNames":["A"]}`, "not as many names"},
		"FM-09 names that are none":   {`{"type":"string","enum":["a"],"enumNames":"A"}`, "not as many names"},
		"FM-09 a title is missing":    {`{"type":"string","oneOf":[{"const":"a"}]}`, "without a title"},
		"FM-09 a const is missing":    {`{"type":"string","oneOf":[{"title":"a"}]}`, "without a const"},
		"FM-09 a format":              {`{"type":"string","format":"ipv4"}`, "format"},
		"FM-09 a negative length":     {`{"type":"string","minLength":-1}`, "minLength"},
		"FM-09 lengths":               {`{"type":"string","minLength":3,"maxLength":2}`, "greatest value below its least"},
		"FM-09 bounds":                {`{"type":"number","minimum":3,"maximum":2}`, "greatest value below its least"},
		"FM-09 a pattern":             {`{"type":"string","pattern":"("}`, "pattern"},
		"FM-09 a default for a text":  {`{"type":"string","default":1}`, "default"},
		"FM-09 a default not offered": {`{"type":"string","enum":["a"],"default":"b"}`, "default"},
		"FM-09 a default for a bool":  {`{"type":"boolean","default":"yes"}`, "default"},
		"FM-09 a default for a list":  {`{"type":"array","items":{"type":"string","enum":["a"]},"default":["b"]}`, "default"},
		"FM-09 a default for a whole": {`{"type":"integer","default":1.5}`, "default"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := question.FromForm(rewrite.JSON(`{"type":"object","properties":{"p":` + c.property + `}}`))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `property "p"`) || got != nil {
				t.Errorf("FromForm: %v, %v; want an error with %q", got, err, c.want)
			}
		})
	}
	for name, schema := range map[string]string{
		"FM-09 no JSON":        `{`,
		"FM-09 no UTF-8":       "{\"properties\":{\"\xcd\":{\"type\":\"string\"}}}",
		"FM-09 a list":         `[]`,
		"FM-09 another type":   `{"type":"array"}`,
		"FM-09 no properties":  `{"properties":[]}`,
		"FM-09 a name twice":   `{"properties":{"p":{"type":"string"},"p":{"type":"string"}}}`,
		"FM-09 an empty name":  `{"properties":{"":{"type":"string"}}}`,
		"FM-09 very many":      `{"properties":{` + strings.Join(numbered(question.MaxOptions+1, `"p%d":{"type":"string"}`), ",") + `}}`,
		"FM-09 very many more": `{"properties":{"p":{"type":"string","enum":[` + strings.Join(numbered(question.MaxOptions+1, `"v%d"`), ",") + `]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := question.FromForm(rewrite.JSON(schema)); err == nil || got != nil {
				t.Errorf("FromForm: %v, %v", got, err)
			}
		})
	}
}

func numbered(n int, format string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

func TestSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "db_password": true, "userPassword": true, "secret": true, "client-secret": true, "token": true, "accessToken": true,
		"api_key": true, "apiKey": true, "API_KEY": true, "apikey": true, "private_key": true, "pin": true, "otp": true,
		"name": false, "key": false, "primary_key": false, "tokens": false, "max_tokens": false, "opinion": false, "secretary": false, "pinned": false,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := question.FromForm(rewrite.JSON(`{"properties":{"` + name + `":{"type":"string"}}}`))
			if err != nil || got[0].Secret != want {
				t.Errorf("%q is secret: %v (%v), want %v", name, got[0].Secret, err, want)
			}
		})
	}
}

func TestElicitation(t *testing.T) {
	questions, _ := question.Normalize(rewrite.JSON(question.Example))
	for name, scope := range map[string]question.Scope{
		"FM-10 session and call": {Session: "s1", Call: "c1"},
		"FM-10 session":          {Session: "s1"},
		"FM-10 neither":          {},
	} {
		t.Run(name, func(t *testing.T) {
			want := question.Elicitation{Message: "Say \"it\".", Questions: questions, Scope: scope}
			params := want.Encode()
			got, err := question.ReadElicitation(params)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", params, err, diff)
			}
			if strings.Contains(string(params), "_meta") != (scope != question.Scope{}) {
				t.Errorf("the scope stands in _meta if there is one: %s", params)
			}
		})
	}
	t.Run("FM-08 an address is refused", func(t *testing.T) {
		_, err := question.ReadElicitation(rewrite.JSON(`{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}`))
		if !errors.Is(err, question.ErrMode) {
			t.Errorf("%v, want ErrMode", err)
		}
	})
	for name, params := range map[string]string{
		"FM-09 a form with an address": `{"message":"m","url":"https://example.com"}`,
		"FM-09 params are no JSON":     `{"mode"`,
		"FM-09 params hold a bad form": `{"mode":"form","message":"m","requestedSchema":{"type":"string"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := question.ReadElicitation(rewrite.JSON(params)); err == nil {
				t.Errorf("read %v", got)
			}
		})
	}
}
