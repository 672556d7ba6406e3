package question

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Outcome is what came of questions.
type Outcome uint8

// The outcomes. Declined is a person who will not answer, Cancelled a turn that was
// stopped, Unasked that there was nobody to ask or that nobody answered in time, and
// Invalid that there was nothing to be asked.
const (
	Answered Outcome = iota
	Declined
	Cancelled
	Unasked
	Invalid
)

// Outcomes lists every outcome, for tables.
var Outcomes = []Outcome{Answered, Declined, Cancelled, Unasked, Invalid}

// String is the outcome's name in events and metric labels.
func (o Outcome) String() string {
	return [...]string{"answered", "declined", "cancelled", "unasked", "invalid"}[o]
}

// Tell is the text that the model reads of an outcome. Answers, which Check has
// given, are told beside their questions; one that is secret is not.
func Tell(outcome Outcome, questions []Question, answers rewrite.JSON) string {
	switch outcome {
	case Answered:
		return tellAnswers(questions, answers)
	case Declined:
		return "The user has read the questions and declined to answer. Do not ask them again. Go on without the answers as far as that is sensible, or say what you cannot do without them."
	case Cancelled:
		return "The user has stopped this turn before answering. Nothing was decided: do not act on any of the options, and wait for what the user says next."
	case Unasked:
		return "Nobody can be asked in this session, so the questions were not answered. Do not call " + Name +
			" again. Assume what is most likely, go on, and state in your answer what you have assumed."
	case Invalid:
	}
	return "Nobody was asked, because the call could not be read as questions. Call " + Name + " again with arguments such as " + Example
}

func tellAnswers(questions []Question, answers rewrite.JSON) string {
	given := propertyOf(answers)
	var b strings.Builder
	b.WriteString("The user has answered.")
	for i := range questions {
		q := &questions[i]
		answer := q.inWords(given[q.Key])
		if !strings.HasPrefix(answer, "\n") {
			answer = " " + answer
		}
		b.WriteString("\n\nQuestion: " + q.Text + "\nAnswer:" + answer)
		if q.Note != "" {
			b.WriteString("\nNote: " + q.Note + ".")
		}
	}
	return b.String()
}

// inWords is an answer as it is told.
func (q *Question) inWords(value []byte) string {
	text, isText := splice.TextOf(value)
	switch {
	case value == nil:
		return "(left open)"
	case q.Secret:
		return "(given, and kept from this conversation)"
	case q.Kind == Confirm && string(value) == "true":
		return "yes"
	case q.Kind == Confirm:
		return "no"
	case q.Kind == Multi:
		var chosen []string
		for _, value := range splice.Texts(value) {
			chosen = append(chosen, "\n- "+q.named(value))
		}
		if len(chosen) == 0 {
			return "(none of the options)"
		}
		return strings.Join(chosen, "")
	case q.Kind == Choice:
		return q.named(text)
	case isText && text == "":
		return "(an empty text)"
	case isText:
		return text
	}
	return string(value)
}

// named is a value with its label, if that says more.
func (q *Question) named(value string) string {
	if o, ok := q.option(value); ok && o.Label != o.Value {
		return value + " (" + o.Label + ")"
	}
	return value
}
