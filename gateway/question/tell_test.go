package question_test

import (
	"strings"
	"testing"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

func TestTell(t *testing.T) {
	questions, problem := question.Normalize(rewrite.JSON(question.Example))
	if problem != "" {
		t.Fatal(problem)
	}
	questions = append(questions,
		question.Question{Key: "q5", Kind: question.Text, Text: "And the password?", Secret: true},
		question.Question{Key: "q6", Kind: question.Text, Text: "Anything else?", Optional: true, Note: "its default was no answer to it and was left out"},
		question.Question{Key: "q7", Kind: question.Multi, Text: "Which of these?", Options: options("a", "b")},
		question.Question{Key: "q8", Kind: question.Text, Text: "Which port?", Schema: rewrite.JSON(`{"type":"integer"}`)},
		question.Question{Key: "q9", Kind: question.Text, Text: "A name?"})
	answers := rewrite.JSON(`{"q1":"SQLite","q2":["unit","lint"],"q3":"line one\nline \"two\"","q4":false,"q5":"mysecret","q7":[],"q8":8080,"q9":""}`)
	t.Run("OC-01 answered", func(t *testing.T) {
		told := question.Tell(question.Answered, questions, answers)
		golden(t, "answered.txt", told+"\n")
		if strings.Contains(told, "mysecret") {
			t.Error("a secret is told")
		}
	})
	for name, c := range map[string]struct {
		outcome question.Outcome
		want    []string
	}{
		"OC-02 FM-07 declined":  {question.Declined, []string{"declined", "Do not ask them again"}},
		"OC-03 FM-07 cancelled": {question.Cancelled, []string{"stopped this turn", "wait for what the user says next"}},
		"OC-04 cannot be asked": {question.Unasked, []string{"Nobody can be asked", "Do not call ask_user again", "Assume what is most likely", "state in your answer what you have assumed"}},
		"OC-05 invalid":         {question.Invalid, []string{"could not be read", question.Example}},
	} {
		t.Run(name, func(t *testing.T) {
			told := question.Tell(c.outcome, questions, answers)
			for _, want := range c.want {
				if !strings.Contains(told, want) {
					t.Errorf("%s says %q, want it to say %q", c.outcome, told, want)
				}
			}
			if strings.Contains(told, "mysecret") || strings.Contains(told, "line one") {
				t.Errorf("%s tells an answer: %s", c.outcome, told)
			}
		})
	}
	t.Run("OC-05 invalid in the words of Normalize", func(t *testing.T) {
		_, problem := question.Normalize(rewrite.JSON(`{"kind":"rating","text":"How?"}`))
		if want := `Nobody was asked, because question 1 is of the unknown kind "rating": use one of the kinds choice, multi, text and confirm, and call ask_user again.`; problem != want {
			t.Errorf("%q, want %q", problem, want)
		}
	})
	t.Run("all different", func(t *testing.T) {
		told, names := map[string]bool{}, map[string]bool{}
		for _, o := range question.Outcomes {
			told[question.Tell(o, questions, answers)], names[o.String()] = true, true
		}
		if len(told) != 5 || len(names) != 5 {
			t.Errorf("%d texts and %d names for 5 outcomes", len(told), len(names))
		}
	})
}
