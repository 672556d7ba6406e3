package question_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

// Whatever a model writes, there is either something to ask or something to tell it;
// and whatever is asked can be answered: by a form and by typed lines.
func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		question.Example, ``, `{}`, `[]`, `null`, `"What?"`, `{"questions":[[],{},"",null,1]}`, `{"questions":"[{\"text\":\"x\"}]"}`,
		`{"text":"Which?","options":{"a":"A","b":null},"default":["a"]}`, `{"text":"a\ud800","options":"a,b","default":"B"}`,
		"{\"text\":\"\xff\",\"options\":[\"\xfe\",\"\xfd\"]}", `{"kind":"multi","text":"x","options":[1,{"value":2,"label":"1"}],"default":"1,2"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(normalizeAnything)
}

// A call that is right but for one value.
func TestNormalizeAnything(t *testing.T) {
	t.Run("NZ-18 each value of a call is another", func(t *testing.T) {
		var values [][2]int
		for from := range question.Example {
			for to := from + 1; to <= len(question.Example); to++ {
				if strings.ContainsAny(question.Example[from:from+1], `{["f`) && json.Valid([]byte(question.Example[from:to])) {
					values = append(values, [2]int{from, to})
					break
				}
			}
		}
		if len(values) < 40 {
			t.Fatalf("%d values in the example", len(values))
		}
		for _, at := range values {
			for _, other := range []string{`null`, `true`, `0`, `-1e9`, `""`, `"choice"`, `[]`, `{}`, `[[]]`, `["a","b"]`, `[null]`, `{"a":{}}`, `{"text":"x"}`, `"[1]"`, `"{}"`, "\"\xff\"", `"\ud800"`} {
				normalizeAnything(t, []byte(question.Example[:at[0]]+other+question.Example[at[1]:]))
			}
		}
	})
}

func normalizeAnything(t *testing.T, arguments []byte) {
	questions, problem := question.Normalize(arguments)
	if (len(questions) == 0) == (problem == "") {
		t.Fatalf("%d questions and the problem %q", len(questions), problem)
	}
	if problem != "" {
		return
	}
	decoded, err := question.Decode(question.Encode(questions))
	if diff := cmp.Diff(questions, decoded); diff != "" || err != nil {
		t.Fatalf("encoded and decoded: %v (-want +got):\n%s", err, diff)
	}
	form, err := question.FromForm(question.Form(questions))
	if diff := cmp.Diff(forms(questions), form); diff != "" || err != nil {
		t.Fatalf("as a form and back: %v (-want +got):\n%s", err, diff)
	}
	content := answer(t, questions)
	clean, err := question.Check(questions, content)
	if err != nil {
		t.Fatalf("Check(%s): %v", content, err)
	}
	if again, err := question.Check(questions, clean); err != nil || string(again) != string(clean) {
		t.Fatalf("checked again: %s, %v, want %s", again, err, clean)
	}
	if !json.Valid(clean) || question.Tell(question.Answered, questions, clean) == "" {
		t.Fatalf("checked answers: %s", clean)
	}
}

// forms are questions without what a form does not carry.
func forms(questions []question.Question) []question.Question {
	questions = slices.Clone(questions)
	for i := range questions {
		questions[i].Note = ""
	}
	return questions
}

// answer goes through the dialogue with lines that every question takes.
func answer(t *testing.T, questions []question.Question) rewrite.JSON {
	d := question.NewDialogue(questions)
	for range questions {
		if _, _, ok := d.Next(); !ok {
			t.Fatal("the dialogue is over too early")
		}
		if again := d.Line(""); again == "" {
			continue // There was a default, or nothing is an answer.
		}
		if again := d.Line("1"); again != "" {
			t.Fatalf("asked again: %s", again)
		}
	}
	outcome, content := d.Outcome()
	if _, _, ok := d.Next(); ok || outcome != question.Answered {
		t.Fatalf("after the last answer: more to ask %v, %s", ok, outcome)
	}
	return content
}

// A server's form is refused or can be asked; never does it break anything.
func FuzzFromForm(f *testing.F) {
	for _, seed := range formCases {
		f.Add([]byte(`{"properties":{"p":` + seed.schema + `}}`))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		questions, err := question.FromForm(schema)
		if err != nil {
			if questions != nil {
				t.Fatalf("%v, and questions %v", err, questions)
			}
			return
		}
		again, err := question.FromForm(question.Form(questions))
		if diff := cmp.Diff(questions, again); diff != "" || err != nil {
			t.Fatalf("as a form and back: %v (-want +got):\n%s", err, diff)
		}
		d := question.NewDialogue(questions)
		for range questions {
			if d.Line("") != "" && d.Line("1") != "" {
				return
			}
		}
		_, content := d.Outcome()
		if _, err := question.Check(questions, content); err != nil {
			t.Fatalf("Check(%s): %v", content, err)
		}
	})
}
