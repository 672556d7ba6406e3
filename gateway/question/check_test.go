package question_test

import (
	"errors"
	"strings"
	"testing"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

func TestCheck(t *testing.T) {
	questions, err := question.FromForm(rewrite.JSON(`{"required":["name","size","tags","sure"],"properties":{` +
		`"name":{"type":"string","title":"Name","maxLength":9},"size":{"type":"string","title":"Size","enum":["s","m"]},` +
		`"tags":{"type":"array","title":"Tags","maxItems":2,"items":{"type":"string","enum":["a","b","c"]}},"sure":{"type":"boolean","title":"Sure?"},` +
		`"port":{"type":"integer","title":"Port","default":80},"note":{"type":"string","title":"Note"},"password":{"type":"string","title":"Password","minLength":20}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const most = `"name":"x","size":"m","tags":["c","a","c"],"sure":false`
	for name, c := range map[string]struct{ content, clean, problem, key string }{
		"defaults stand in":          {content: `{` + most + `}`, clean: `{"name":"x","size":"m","tags":["a","c"],"sure":false,"port":80}`},
		"any order, unknown members": {content: ` {"x":1,"port":8080,"note":null,` + most + `} `, clean: `{"name":"x","size":"m","tags":["a","c"],"sure":false,"port":8080}`},
		"a number typed as text":     {content: `{"port":"8080",` + most + `}`, clean: `{"name":"x","size":"m","tags":["a","c"],"sure":false,"port":8080}`},
		"an empty text is a text":    {content: `{"note":"",` + most + `}`, clean: `{"name":"x","size":"m","tags":["a","c"],"sure":false,"port":80,"note":""}`},
		"FM-06 nothing":              {content: ``, problem: "is missing", key: "name"},
		"FM-06 null":                 {content: `null`, problem: "is missing", key: "name"},
		"FM-06 one is missing":       {content: `{"name":"x","size":"m","tags":[]}`, problem: "is missing", key: "sure"},
		"FM-06 one is null":          {content: `{"name":"x","size":null}`, problem: "is missing", key: "size"},
		"a value that is offered":    {content: `{"name":"x","size":"M"}`, problem: `has to be one of "s", "m"`, key: "size"},
		"a number for a choice":      {content: `{"name":"x","size":1}`, problem: `has to be one of "s", "m"`, key: "size"},
		"no list":                    {content: `{"name":"x","size":"s","tags":"a"}`, problem: "has to be a list", key: "tags"},
		"an element not offered":     {content: `{"name":"x","size":"s","tags":["a","d"]}`, problem: `may hold only "a", "b", "c"`, key: "tags"},
		"an element that is no text": {content: `{"name":"x","size":"s","tags":[1]}`, problem: `may hold only "a", "b", "c"`, key: "tags"},
		"too many":                   {content: `{"name":"x","size":"s","tags":["a","b","c"]}`, problem: "may have at most 2 options", key: "tags"},
		"yes is not true":            {content: `{"name":"x","size":"s","tags":[],"sure":"yes"}`, problem: "has to be true or false", key: "sure"},
		"a text that is too long":    {content: `{"name":"0123456789"}`, problem: "may have at most 9 characters", key: "name"},
		"a text that is none":        {content: `{"name":7}`, problem: "has to be a text", key: "name"},
		"a number that is none":      {content: `{"port":"x",` + most + `}`, problem: "has to be a whole number", key: "port"},
		"no object":                  {content: `[]`, problem: "the answers are no object"},
		"no JSON":                    {content: `{"name":`, problem: "the answers are not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			clean, err := question.Check(questions, rewrite.JSON(c.content))
			var problem *question.Problem
			if c.problem == "" {
				if string(clean) != c.clean || err != nil {
					t.Errorf("Check(%s) = %s, %v; want %s", c.content, clean, err, c.clean)
				}
				return
			}
			if !errors.As(err, &problem) || problem.What != c.problem || problem.Key != c.key || !strings.Contains(err.Error(), c.problem) || clean != nil {
				t.Errorf("Check(%s) = %s, %v; want a problem of %q: %s", c.content, clean, err, c.key, c.problem)
			}
		})
	}
	t.Run("no problem tells the answer", func(t *testing.T) {
		for _, content := range []string{`{"password":"mysecret",` + most + `}`, `{"password":["mysecret"],` + most + `}`} {
			if _, err := question.Check(questions, rewrite.JSON(content)); err == nil || strings.Contains(err.Error(), "mysecret") {
				t.Errorf("Check(%s): %v", content, err)
			}
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `[`, "no list": `{}`, "no object": `[1]`, "no key": `[{"kind":"text"}]`, "no kind": `[{"key":"q1"}]`, "another kind": `[{"key":"q1","kind":"single"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := question.Decode(rewrite.JSON(text)); err == nil {
				t.Errorf("Decode(%s) = %v", text, got)
			}
		})
	}
}
