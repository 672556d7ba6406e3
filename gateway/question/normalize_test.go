package question_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

var update = flag.Bool("update", false, "write the golden files")

func options(values ...string) (all []question.Option) {
	for _, v := range values {
		all = append(all, question.Option{Value: v, Label: v})
	}
	return all
}

func ask(kind question.Kind, text string, values ...string) question.Question {
	return question.Question{Key: "q1", Kind: kind, Text: text, Options: options(values...)}
}

func with(q question.Question, value string) question.Question {
	q.Default = rewrite.JSON(value)
	return q
}

func noted(q question.Question, note string) question.Question {
	q.Note = note
	return q
}

func keyed(questions ...question.Question) []question.Question {
	for i := range questions {
		questions[i].Key = "q" + string(rune('1'+i))
	}
	return questions
}

func TestNormalize(t *testing.T) {
	choice := ask(question.Choice, "Which?", "a", "b")
	multi := ask(question.Multi, "Which?", "a", "b")
	text := ask(question.Text, "What?")
	confirm := ask(question.Confirm, "Sure?")
	titled := question.Question{Key: "q1", Kind: question.Choice, Text: "Which?", Options: []question.Option{{Value: "a", Label: "Alpha"}, {Value: "b", Label: "b"}}}
	const dropped = "its default was no answer to it and was left out"
	for name, c := range map[string]struct {
		in   string
		want []question.Question
	}{
		"NZ-01 canonical": {`{"questions":[{"kind":"choice","text":"Which?","options":["a","b"]},{"kind":"multi","text":"Which?","options":["a","b"]},{"kind":"text","text":"What?"},{"kind":"confirm","text":"Sure?"}]}`,
			keyed(choice, multi, text, confirm)},
		"NZ-01 canonical with defaults": {`{"questions":[{"kind":"choice","text":"Which?","options":["a","b"],"default":"b"},{"kind":"multi","text":"Which?","options":["a","b"],"default":["a"]},{"kind":"text","text":"What?","default":"x"},{"kind":"confirm","text":"Sure?","default":false}]}`,
			keyed(with(choice, `"b"`), with(multi, `["a"]`), with(text, `"x"`), with(confirm, `false`))},
		"NZ-02 single":               {`{"questions":[{"kind":"single","text":"Which?","options":["a","b"]}]}`, keyed(choice)},
		"NZ-03 a flag for many":      {`{"questions":[{"question":"Which?","options":["a","b"],"multiSelect":true}]}`, keyed(multi)},
		"NZ-03 a flag against many":  {`{"questions":[{"question":"Which?","options":["a","b"],"multiSelect":false}]}`, keyed(choice)},
		"NZ-04 no kind, options":     {`{"questions":[{"text":"Which?","options":["a","b"]}]}`, keyed(choice)},
		"NZ-04 kind null, options":   {`{"questions":[{"kind":null,"text":"Which?","options":["a","b"]}]}`, keyed(choice)},
		"NZ-05 no kind, no options":  {`{"questions":[{"text":"What?"}]}`, keyed(text)},
		"NZ-05 empty kind":           {`{"questions":[{"kind":"","text":"What?","options":[]}]}`, keyed(text)},
		"NZ-06 one object":           {`{"questions":{"kind":"text","text":"What?"}}`, keyed(text)},
		"NZ-06 under question":       {`{"question":{"kind":"text","text":"What?"}}`, keyed(text)},
		"NZ-06 a list in question":   {`{"question":[{"kind":"text","text":"What?"}]}`, keyed(text)},
		"NZ-06 at the top":           {`{"kind":"choice","question":"Which?","options":["a","b"]}`, keyed(choice)},
		"NZ-06 only a text":          {`{"question":"What?"}`, keyed(text)},
		"NZ-06 a bare list":          {`[{"kind":"text","text":"What?"}]`, keyed(text)},
		"NZ-06 texts in the list":    {`{"questions":["What?",{"kind":"confirm","text":"Sure?"}]}`, keyed(text, confirm)},
		"NZ-06 questions is a text":  {`{"questions":"What?"}`, keyed(text)},
		"NZ-07 a list in a string":   {`{"questions":"[{\"kind\":\"text\",\"text\":\"What?\"}]"}`, keyed(text)},
		"NZ-07 an object in one":     {`{"questions":" {\"kind\":\"text\",\"text\":\"What?\"} "}`, keyed(text)},
		"NZ-07 all in a string":      {`"{\"questions\":[{\"text\":\"What?\"}]}"`, keyed(text)},
		"NZ-07 each in a string":     {`{"questions":["{\"text\":\"What?\"}"]}`, keyed(text)},
		"NZ-08 value and label":      {`{"text":"Which?","options":[{"value":"a","label":"Alpha"},{"value":"b"}]}`, keyed(titled)},
		"NZ-08 value and title":      {`{"text":"Which?","options":[{"title":"Alpha","value":"a"},"b"]}`, keyed(titled)},
		"NZ-08 only labels":          {`{"text":"Which?","options":[{"label":"a"},{"label":"b"}]}`, keyed(choice)},
		"NZ-08 const and title":      {`{"text":"Which?","enum":[{"const":"a","title":"Alpha"},"b"]}`, keyed(titled)},
		"NZ-08 a map":                {`{"text":"Which?","options":{"a":"Alpha","b":""}}`, keyed(titled)},
		"NZ-08 commas":               {`{"text":"Which?","options":"a, b"}`, keyed(choice)},
		"NZ-08 lines":                {`{"text":"Which?","options":"a\nb\n"}`, keyed(choice)},
		"NZ-08 bars":                 {`{"text":"Which?","options":"a|b"}`, keyed(choice)},
		"NZ-08 a list in a string":   {`{"text":"Which?","options":"[\"a\",\"b\"]"}`, keyed(choice)},
		"NZ-08 numbers":              {`{"text":"Which?","options":[1,2.50,true]}`, keyed(ask(question.Choice, "Which?", "1", "2.50", "true"))},
		"NZ-08 a description":        {`{"text":"Which?","options":[{"value":"a","label":"Alpha","description":"the first"},"b"]}`, keyed(question.Question{Kind: question.Choice, Text: "Which?", Options: []question.Option{{Value: "a", Label: "Alpha: the first"}, {Value: "b", Label: "b"}}})},
		"NZ-10 twice":                {`{"text":"Which?","options":["a","b","a"]}`, keyed(choice)},
		"NZ-12 no such option":       {`{"text":"Which?","options":["a","b"],"default":"c"}`, keyed(noted(choice, dropped))},
		"NZ-12 by label and case":    {`{"text":"Which?","options":[{"value":"a","label":"Alpha"},"b"],"default":"ALPHA"}`, keyed(with(titled, `"a"`))},
		"NZ-12 some of many":         {`{"kind":"multi","text":"Which?","options":["a","b"],"default":["b","c","a","b"]}`, keyed(noted(with(multi, `["a","b"]`), "what of its default was no option was left out"))},
		"NZ-12 many as a text":       {`{"kind":"multi","text":"Which?","options":["a","b"],"default":"b, a"}`, keyed(with(multi, `["a","b"]`))},
		"NZ-12 none of many":         {`{"kind":"multi","text":"Which?","options":["a","b"],"default":[]}`, keyed(with(multi, `[]`))},
		"NZ-12 nothing known":        {`{"kind":"multi","text":"Which?","options":["a","b"],"default":["c"]}`, keyed(noted(multi, "what of its default was no option was left out"))},
		"NZ-12 an object for a text": {`{"text":"What?","default":{}}`, keyed(noted(text, dropped))},
		"NZ-12 a number for a text":  {`{"text":"What?","default":8080}`, keyed(with(text, `"8080"`))},
		"NZ-12 maybe":                {`{"kind":"confirm","text":"Sure?","default":"maybe"}`, keyed(noted(confirm, dropped))},
		"NZ-13 yes":                  {`{"kind":"confirm","text":"Sure?","default":"Yes"}`, keyed(with(confirm, `true`))},
		"NZ-13 true":                 {`{"kind":"confirm","text":"Sure?","default":true}`, keyed(with(confirm, `true`))},
		"NZ-13 y":                    {`{"kind":"confirm","text":"Sure?","default":"y"}`, keyed(with(confirm, `true`))},
		"NZ-13 no":                   {`{"kind":"confirm","text":"Sure?","default":"no"}`, keyed(with(confirm, `false`))},
		"NZ-16 unknown members":      {`{"why":1,"questions":[{"kind":"text","text":"What?","required":true,"id":7,"x":{"kind":"multi"}}]}`, keyed(text)},
		"NZ-16 options of a confirm": {`{"kind":"confirm","text":"Sure?","options":["yes","no"]}`, keyed(confirm)},
		"NZ-17 options first":        {`{"questions":[{"options":["a","b"],"text":"Which?","kind":"choice"}]}`, keyed(choice)},
		"NZ-17 options after text":   {`{"questions":[{"text":"Which?","kind":"choice","options":["a","b"]}]}`, keyed(choice)},
		"NZ-17 alphabetical":         {`{"questions":[{"default":"a","kind":"choice","options":["a","b"],"text":"Which?"}]}`, keyed(with(choice, `"a"`))},
		"context":                    {`{"text":"What?","description":"It is for the log."}`, keyed(question.Question{Kind: question.Text, Text: "What?", Context: "It is for the log."})},
		"spelling of names":          {`{"Questions":[{"Kind":"TEXT","Text":" What? "}]}`, keyed(text)},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := question.Normalize(rewrite.JSON(c.in))
			if problem != "" {
				t.Fatalf("Normalize(%s): %s", c.in, problem)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Normalize(%s) (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

func TestNormalizeKinds(t *testing.T) {
	for want, names := range map[question.Kind]string{
		question.Choice:  "choice single select radio pick one Single-Select",
		question.Multi:   "multi multiple checkbox multiselect many MULTI_SELECT multi-select",
		question.Text:    "text string input free open Free-Text",
		question.Confirm: "confirm yesno boolean bool yes_no Yes-No",
	} {
		for kind := range strings.FieldsSeq(names) {
			t.Run("NZ-03 "+kind, func(t *testing.T) {
				in := `{"kind":"` + kind + `","text":"?"`
				if want == question.Choice || want == question.Multi {
					in += `,"options":["a","b"]`
				}
				got, problem := question.Normalize(rewrite.JSON(in + `}`))
				if problem != "" || got[0].Kind != want {
					t.Errorf("kind %q: %v %s, want %s", kind, got, problem, want)
				}
			})
		}
	}
	t.Run("NZ-03 with a space", func(t *testing.T) {
		if got, problem := question.Normalize(rewrite.JSON(`{"kind":"Yes No","text":"?"}`)); problem != "" || got[0].Kind != question.Confirm {
			t.Errorf("kind \"Yes No\": %v %s", got, problem)
		}
	})
}

func TestNormalizeProblems(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"NZ-09 no options":           {`{"kind":"choice","text":"Which?"}`, `question 1 is a choice of 0 options`},
		"NZ-09 one option":           {`{"questions":[{"text":"x"},{"kind":"choice","text":"Which?","options":["a"]}]}`, `question 2 is a choice of 1 option`},
		"NZ-09 many of none":         {`{"kind":"multi","text":"Which?"}`, `question 1 is a choice without options`},
		"NZ-09 one after all":        {`{"text":"Which?","options":["a","a"]}`, `question 1 is a choice of 1 option`},
		"NZ-10 one value, two names": {`{"text":"Which?","options":[{"value":"a","label":"A"},{"value":"a","label":"B"}]}`, `two options that are alike, "A" and "B"`},
		"NZ-10 one name, two values": {`{"text":"Which?","options":[{"value":"a","label":"A"},{"value":"b","label":"A"}]}`, `two options that are alike`},
		"NZ-11 no text":              {`{"questions":[{"text":"x"},{"kind":"confirm","text":"  "}]}`, `question 2 has no text`},
		"NZ-11 a number":             {`{"questions":[{"text":"x"},[]]}`, `question 2 is neither an object nor a text`},
		"NZ-14 nothing":              {``, `the call holds no questions`},
		"NZ-14 an empty object":      {`{}`, `the call holds no questions`},
		"NZ-14 an empty list":        {`{"questions":[]}`, `the call holds no questions`},
		"NZ-14 an empty text":        {`""`, `the call holds no questions`},
		"NZ-14 null":                 {`null`, `the call holds no questions`},
		"NZ-14 a number":             {`7`, `the call holds no questions`},
		"NZ-15 rating":               {`{"kind":"rating","text":"How?"}`, `unknown kind "rating": use one of the kinds choice, multi, text and confirm`},
		"NZ-15 no word":              {`{"kind":{},"text":"How?"}`, `use one of the kinds choice, multi, text and confirm`},
		"text with options":          {`{"kind":"text","text":"Which?","options":["a","b"]}`, `has options, though its kind is "text"`},
		"an option without a text":   {`{"text":"Which?","options":["a",{}]}`, `an option without a text`},
		"options of a number":        {`{"text":"Which?","options":7}`, `options that are no list`},
		"no JSON":                    {`{"questions":`, `not valid JSON`},
		"too many":                   {`{"questions":["` + strings.Repeat(`a","`, question.MaxQuestions) + `b"]}`, `there are 21 questions`},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := question.Normalize(rewrite.JSON(c.in))
			if !strings.Contains(problem, c.want) || got != nil {
				t.Errorf("Normalize(%s) = %v, %q; want a problem with %q", c.in, got, problem, c.want)
			}
			if !strings.HasPrefix(problem, "Nobody was asked, because ") || !strings.HasSuffix(problem, ", and call ask_user again.") || strings.Contains(problem, "\n") {
				t.Errorf("the problem is no sentence to act on: %q", problem)
			}
		})
	}
}

func TestTool(t *testing.T) {
	t.Run("NZ-19 the schema", func(t *testing.T) {
		golden(t, "schema.json", question.Schema+"\n")
		for _, word := range []string{"enum", "required", "options", "kind", "text", "additionalProperties"} {
			if strings.Contains(question.Schema, `"`+word+`"`) {
				t.Errorf("the schema has %q: %s", word, question.Schema)
			}
		}
	})
	t.Run("NZ-20 the example", func(t *testing.T) {
		if !strings.HasSuffix(question.Description, "\n"+question.Example) {
			t.Error("the description does not end with the example")
		}
		got, problem := question.Normalize(rewrite.JSON(question.Example))
		want := keyed(
			with(ask(question.Choice, "Which database should the service use?", "PostgreSQL", "SQLite"), `"PostgreSQL"`),
			question.Question{Kind: question.Multi, Text: "Which checks should run before a merge?", Options: []question.Option{{Value: "unit", Label: "Unit tests"}, {Value: "lint", Label: "Linter"}}},
			ask(question.Text, "What is the service called?"),
			with(ask(question.Confirm, "Should the old tables be dropped?"), `false`),
		)
		if diff := cmp.Diff(want, got); diff != "" || problem != "" {
			t.Errorf("%s (-want +got):\n%s", problem, diff)
		}
	})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
