package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Dialogue asks questions one after the other of somebody who types lines. What has
// been answered stays answered when a later line will not do.
type Dialogue struct {
	questions []Question
	answers   []rewrite.JSON // empty for what was left open
	outcome   Outcome
	over      bool
}

// NewDialogue begins to ask.
func NewDialogue(questions []Question) *Dialogue {
	return &Dialogue{questions: questions, over: len(questions) == 0}
}

// Next is what to show before the next line is read, and whether that line is to be
// typed unseen; ok is false when there is nothing more to ask. The text ends without
// a line end, where the answer is typed. It holds what the asker has written: whoever
// shows it takes control sequences out.
func (d *Dialogue) Next() (text string, unseen, ok bool) {
	if d.over {
		return "", false, false
	}
	q := &d.questions[len(d.answers)]
	var b strings.Builder
	if len(d.questions) > 1 {
		fmt.Fprintf(&b, "(%d/%d) ", len(d.answers)+1, len(d.questions))
	}
	b.WriteString(q.Text + "\n")
	if q.Context != "" {
		b.WriteString(q.Context + "\n")
	}
	for i, o := range q.Options {
		fmt.Fprintf(&b, "  %d) %s\n", i+1, o.Label)
	}
	b.WriteString(q.how() + "> ")
	return b.String(), q.Secret, true
}

// Line takes a typed line as the answer to the question that Next has shown. Again is
// why the same question is asked once more, or empty.
func (d *Dialogue) Line(line string) (again string) {
	if d.over {
		return ""
	}
	answer, again := d.questions[len(d.answers)].Line(line)
	if again != "" {
		return again
	}
	d.answers = append(d.answers, answer)
	d.over = len(d.answers) == len(d.questions)
	return ""
}

// Decline ends the dialogue: the person will not answer.
func (d *Dialogue) Decline() { d.end(Declined) }

// Abort ends the dialogue: the turn is stopped, and what was answered with it.
func (d *Dialogue) Abort() { d.end(Cancelled) }

func (d *Dialogue) end(outcome Outcome) {
	if !d.over {
		d.over, d.outcome, d.answers = true, outcome, nil
	}
}

// Outcome is what came of a dialogue that is over, and the content of the form that
// was filled in, which Check takes; only if it is Answered is there content.
func (d *Dialogue) Outcome() (Outcome, rewrite.JSON) {
	if d.outcome != Answered {
		return d.outcome, nil
	}
	var w splice.Writer
	w.Open('{')
	for i, answer := range d.answers {
		if len(answer) > 0 {
			w.Name(d.questions[i].Key)
			w.Raw(answer)
		}
	}
	w.Close('}')
	return Answered, w.Bytes()
}

// how says how to answer, and what an empty line means.
func (q *Question) how() string {
	what := map[Kind]string{Choice: "number or label", Multi: "numbers or labels, separated by commas", Text: "", Confirm: "y/n"}[q.Kind]
	if r, err := rulesOf(q.Schema); err == nil && r.integer {
		what = "whole number"
	} else if err == nil && r.number {
		what = "number"
	}
	if empty := q.onEmpty(); empty != "" {
		if what != "" {
			what += "; "
		}
		what += "empty for " + empty
	}
	if what == "" {
		return ""
	}
	return "[" + what + "] "
}

// onEmpty is what an empty line stands for, in words.
func (q *Question) onEmpty() string {
	switch {
	case len(q.Default) > 0 && q.Secret:
		return "the default"
	case len(q.Default) > 0 && q.Kind == Multi:
		var labels []string
		for _, value := range splice.Texts(q.Default) {
			o, _ := q.option(value)
			labels = append(labels, o.Label)
		}
		if len(labels) > 0 {
			return strings.Join(labels, ", ")
		}
		return "none"
	case len(q.Default) > 0 && q.Kind == Choice:
		o, _ := q.option(splice.Text(q.Default))
		return o.Label
	case len(q.Default) > 0:
		return brief(q.inWords(q.Default))
	case q.Optional:
		return "no answer"
	case q.Kind == Multi:
		return "none"
	case q.Kind == Choice, q.Kind == Text, q.Kind == Confirm:
	}
	return ""
}

// Line reads a typed line as the answer to a question. The answer is empty where the
// question is left open; again, if it is not empty, is why the line will not do.
func (q *Question) Line(line string) (answer rewrite.JSON, again string) {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD")
	word := strings.TrimSpace(line)
	if word == "" {
		switch {
		case len(q.Default) > 0:
			return q.Default, ""
		case q.Optional:
			return nil, ""
		case q.Kind == Choice:
			return nil, q.choose()
		case q.Kind == Text:
			return nil, "Please type an answer."
		case q.Kind == Confirm:
			return nil, "Please answer y or n."
		case q.Kind == Multi:
		}
	}
	switch q.Kind {
	case Choice:
		i := q.picked(word)
		if i < 0 {
			return nil, q.choose()
		}
		return quoted(q.Options[i].Value), ""
	case Multi:
		return q.pickMany(word)
	case Confirm:
		if yes, ok := yesOrNo(quoted(word)); ok {
			return rewrite.JSON(strconv.FormatBool(yes)), ""
		}
		return nil, "Please answer y or n."
	case Text:
	}
	answer, what := q.check(quoted(line))
	if what != "" {
		return nil, "That will not do: the answer " + what + "."
	}
	return answer, ""
}

func (q *Question) choose() string {
	return fmt.Sprintf("Please type a number from 1 to %d, or one of the labels.", len(q.Options))
}

// picked is the index of the option that a word names: its number, else its label,
// else its value; -1 for none.
func (q *Question) picked(word string) int {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(q.Options) {
		return n - 1
	}
	for _, of := range []func(Option) string{func(o Option) string { return o.Label }, func(o Option) string { return o.Value }} {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
			if i := slices.IndexFunc(q.Options, func(o Option) bool { return same(strings.TrimSpace(of(o)), word) }); i >= 0 {
				return i
			}
		}
	}
	return -1
}

// pickMany reads the options that a line names, between commas or between spaces.
func (q *Question) pickMany(line string) (answer rewrite.JSON, again string) {
	const how = "Please type numbers or labels, separated by commas."
	chosen := make([]bool, len(q.Options))
	parts := strings.Split(line, ",")
	if q.picked(line) >= 0 { // A label may have commas in it.
		parts = []string{line}
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		words := []string{part}
		if q.picked(part) < 0 {
			words = strings.Fields(part)
		}
		for _, word := range words {
			if i := q.picked(word); i >= 0 {
				chosen[i] = true
			} else if !strings.EqualFold(line, "none") {
				return nil, how
			}
		}
	}
	answer, what := q.check(q.chosen(chosen))
	if what != "" {
		return nil, "That will not do: the answer " + what + "."
	}
	return answer, ""
}
