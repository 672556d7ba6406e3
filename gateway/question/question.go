package question

import (
	"fmt"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Kind is how a question is answered.
type Kind uint8

// The kinds of questions.
const (
	// Choice is one of the options.
	Choice Kind = iota
	// Multi is any of the options, or none.
	Multi
	// Text is a text of the person's own.
	Text
	// Confirm is yes or no.
	Confirm
)

// Kinds lists every kind, for tables.
var Kinds = []Kind{Choice, Multi, Text, Confirm}

// String is the kind's name in calls, prompts and events.
func (k Kind) String() string { return [...]string{"choice", "multi", "text", "confirm"}[k] }

// Option is one of the answers of a Choice or a Multi: Value is what the asker
// gets, Label what the person sees.
type Option struct{ Value, Label string }

// Question is one thing that is asked.
type Question struct {
	// Key names the answer among those of its form.
	Key  string
	Kind Kind
	// Text is the question itself, Context what helps to answer it, if anything.
	Text    string
	Context string
	// Options are those of a Choice or a Multi.
	Options []Option
	// Default is what holds where nothing is answered: a string, an array of
	// strings or a boolean, as the kind has it; empty for none.
	Default rewrite.JSON
	// Optional says that no answer is an answer.
	Optional bool
	// Secret says that the answer is typed unseen, and neither shown to a model
	// nor kept.
	Secret bool
	// Schema is the property of the form that the question came from, where that
	// asks for more than the kind does: a number, a date, a length.
	Schema rewrite.JSON
	// Note is what has been changed of the question as it was asked, for the asker.
	Note string
}

// option gives the option that has a value.
func (q *Question) option(value string) (Option, bool) {
	i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Value == value })
	if i < 0 {
		return Option{}, false
	}
	return q.Options[i], true
}

// Encode writes questions as a JSON array of objects with the members key, kind,
// text, context, options (value and label), default, optional, secret, schema and
// note, without those that say nothing.
func Encode(questions []Question) rewrite.JSON {
	var w splice.Writer
	w.Open('[')
	for i := range questions {
		q := &questions[i]
		w.Open('{')
		w.Text("key", q.Key)
		w.Text("kind", q.Kind.String())
		w.Text("text", q.Text)
		w.Text("context", q.Context)
		if len(q.Options) > 0 {
			w.Name("options")
			w.Open('[')
			for _, o := range q.Options {
				w.Open('{')
				w.Name("value")
				w.String(o.Value)
				w.Name("label")
				w.String(o.Label)
				w.Close('}')
			}
			w.Close(']')
		}
		w.Value("default", q.Default)
		writeFlag(&w, "optional", q.Optional)
		writeFlag(&w, "secret", q.Secret)
		w.Value("schema", q.Schema)
		w.Text("note", q.Note)
		w.Close('}')
	}
	w.Close(']')
	return w.Bytes()
}

func writeFlag(w *splice.Writer, name string, set bool) {
	if set {
		w.Name(name)
		w.Bool(true)
	}
}

// Decode is the inverse of Encode. It fails on what Encode has not written.
func Decode(text rewrite.JSON) ([]Question, error) {
	if err := splice.Valid(text); err != nil {
		return nil, fmt.Errorf("reading questions: %w", err)
	}
	var questions []Question
	var bad error
	list := splice.Elements(text, func(element []byte) bool {
		var q Question
		if q, bad = decode(element); bad == nil {
			questions = append(questions, q)
		}
		return bad == nil
	})
	if bad == nil && !list {
		bad = fmt.Errorf("reading questions: no list")
	}
	return questions, bad
}

func decode(element []byte) (q Question, err error) {
	kind := ""
	object := splice.Fields(element, func(key, value []byte) bool {
		switch string(key) {
		case "key":
			q.Key = splice.Text(value)
		case "kind":
			kind = splice.Text(value)
		case "text":
			q.Text = splice.Text(value)
		case "context":
			q.Context = splice.Text(value)
		case "options":
			splice.Elements(value, func(option []byte) bool {
				m := membersOf(option)
				q.Options = append(q.Options, Option{Value: splice.Text(m.get("value")), Label: splice.Text(m.get("label"))})
				return true
			})
		case "default":
			q.Default = rewrite.JSON(slices.Clone(value))
		case "optional":
			q.Optional = string(value) == "true"
		case "secret":
			q.Secret = string(value) == "true"
		case "schema":
			q.Schema = rewrite.JSON(slices.Clone(value))
		case "note":
			q.Note = splice.Text(value)
		}
		return true
	})
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.String() == kind })
	switch {
	case !object || q.Key == "":
		return q, fmt.Errorf("reading questions: a question without a key")
	case i < 0:
		return q, fmt.Errorf("reading questions: question %q is of no known kind", q.Key)
	}
	q.Kind = Kinds[i]
	return q, nil
}
