package question

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Problem is an answer that will not do. It never holds the answer, which may be a
// secret.
type Problem struct {
	// Key is the question's; empty where it is the answers as a whole.
	Key string
	// What is wrong with the answer, as the rest of a sentence.
	What string
}

// Error is the problem as a sentence.
func (p *Problem) Error() string {
	if p.Key == "" {
		return p.What
	}
	return "the answer to " + string(quoted(p.Key)) + " " + p.What
}

// Check reads the answers of an accepted form, an object with a member for each
// question under its key. Clean holds them in the order of the questions: members
// that answer none are left out, defaults stand where nothing is answered, and a
// number that was typed as a text is a number. The error is a *Problem.
func Check(questions []Question, content rewrite.JSON) (clean rewrite.JSON, problem error) {
	content = bytes.TrimSpace(content)
	if len(content) > 0 && splice.Valid(content) != nil {
		return nil, &Problem{What: "the answers are not valid JSON"}
	}
	if !splice.Null(content) && !isObject(content) {
		return nil, &Problem{What: "the answers are no object"}
	}
	given := propertyOf(content)
	var w splice.Writer
	w.Open('{')
	for i := range questions {
		q := &questions[i]
		value := given[q.Key]
		switch {
		case value != nil:
			checked, what := q.check(value)
			if what != "" {
				return nil, &Problem{q.Key, what}
			}
			value = checked
		case len(q.Default) > 0:
			value = q.Default
		case q.Optional:
			continue
		default:
			return nil, &Problem{q.Key, "is missing"}
		}
		w.Name(q.Key)
		w.Raw(value)
	}
	w.Close('}')
	return w.Bytes(), nil
}

// check is an answer as the asker gets it, or what is wrong with it.
func (q *Question) check(value []byte) (clean rewrite.JSON, what string) {
	r, err := rulesOf(q.Schema)
	if err != nil {
		return nil, err.Error()
	}
	switch q.Kind {
	case Choice:
		text, ok := splice.TextOf(value)
		if _, offered := q.option(text); !ok || !offered {
			return nil, "has to be one of " + q.offered()
		}
		return quoted(text), ""
	case Multi:
		return q.checkMany(value, &r)
	case Text:
		return q.checkText(value, &r)
	case Confirm:
		if text := string(value); text == "true" || text == "false" {
			return rewrite.JSON(text), ""
		}
	}
	return nil, "has to be true or false"
}

func (q *Question) checkText(value []byte, r *rules) (clean rewrite.JSON, what string) {
	text, ok := splice.TextOf(value)
	if r.number {
		if !ok {
			text = string(value)
		}
		text = strings.TrimSpace(text)
		return rewrite.JSON(text), r.numeric(text)
	}
	if !ok {
		return nil, "has to be a text"
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return quoted(text), r.text(text)
}

func (q *Question) checkMany(value []byte, r *rules) (clean rewrite.JSON, what string) {
	if !isArray(value) {
		return nil, "has to be a list"
	}
	chosen := make([]bool, len(q.Options))
	count := 0
	for _, element := range list(value) {
		text, ok := splice.TextOf(element)
		i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Value == text })
		if !ok || i < 0 {
			return nil, "may hold only " + q.offered()
		}
		if !chosen[i] {
			count++
		}
		chosen[i] = true
	}
	return q.chosen(chosen), r.items(count)
}

// offered are the values of the options, in words.
func (q *Question) offered() string {
	var values []string
	for _, o := range q.Options {
		values = append(values, string(quoted(o.Value)))
	}
	return strings.Join(values, ", ")
}
