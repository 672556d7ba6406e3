package question

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Form writes questions as the schema of a form of the Model Context Protocol: a
// flat object with a property for each question, under its key. Required is what has
// no default and may not be left open.
func Form(questions []Question) rewrite.JSON {
	var w splice.Writer
	w.Literal(`{"type":"object","properties":`)
	w.Open('{')
	for i := range questions {
		w.Name(questions[i].Key)
		w.Raw(questions[i].property())
	}
	w.Close('}')
	size := w.Size()
	w.Name("required")
	w.Open('[')
	some := false
	for i := range questions {
		if q := &questions[i]; !q.Optional && len(q.Default) == 0 {
			w.String(q.Key)
			some = true
		}
	}
	w.Close(']')
	if !some {
		w.Cut(size)
	}
	w.Close('}')
	return w.Bytes()
}

// property is the question as a property of a form.
func (q *Question) property() rewrite.JSON {
	if len(q.Schema) > 0 {
		return q.Schema
	}
	var w splice.Writer
	w.Open('{')
	w.Text("type", [...]string{Choice: "string", Multi: "array", Text: "string", Confirm: "boolean"}[q.Kind])
	w.Text("title", q.Text)
	w.Text("description", q.Context)
	switch q.Kind {
	case Choice:
		writeOptions(&w, q.Options, "oneOf")
	case Multi:
		w.Name("items")
		w.Open('{')
		if plain(q.Options) {
			w.Text("type", "string")
		}
		writeOptions(&w, q.Options, "anyOf")
		w.Close('}')
	case Text:
		writeFlag(&w, "writeOnly", q.Secret)
	case Confirm:
	}
	w.Value("default", q.Default)
	w.Close('}')
	return w.Bytes()
}

// plain reports whether all options are called by their values.
func plain(options []Option) bool {
	for _, o := range options {
		if o.Value != o.Label {
			return false
		}
	}
	return true
}

// writeOptions writes options as an enumeration, titled ones under the name that
// their place has for it.
func writeOptions(w *splice.Writer, options []Option, titled string) {
	bare := plain(options)
	if bare {
		titled = "enum"
	}
	w.Name(titled)
	w.Open('[')
	for _, o := range options {
		if bare {
			w.String(o.Value)
			continue
		}
		w.Open('{')
		w.Text("const", o.Value)
		w.Text("title", o.Label)
		w.Close('}')
	}
	w.Close(']')
}
