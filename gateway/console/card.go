package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite/splice"
)

// card is a prompt with the form that answers it.
type card struct {
	ID, Kind     string
	Conversation string
	Agent        string // which of the agents asks, if it is not the first
	Tool, Source string
	Message      string
	Arguments    string
	Result       string
	Editable     bool
	Opened       time.Time
	Expires      time.Time
	Fields       []field
	// Problem is what is wrong with an answer as a whole.
	Problem string
}

// field is a question as a part of a form.
type field struct {
	question.Question
	// Name is that of the control, and ID that of its element.
	Name, ID string
	// Type is that of the control: radio, select, checkbox, secret, number, email, url,
	// date or text.
	Type string
	// Value is the default of a text, and Chosen are those of options.
	Value  string
	Chosen map[string]bool
	// Hint says what is asked for beyond the kind.
	Hint    string
	Problem string
}

// manyOptions is the number of options above which one is chosen from a list.
const manyOptions = 8

// newCard makes a form of a prompt.
func newCard(v *prompt.View) *card {
	c := &card{
		ID: v.ID, Kind: v.Kind, Conversation: v.Conversation, Agent: strings.Join(v.Path, " › "), Tool: v.Tool.Name, Source: v.Tool.Source,
		Message: v.Message, Result: v.Result, Editable: v.Editable, Opened: v.Opened, Expires: v.Expires,
	}
	if len(v.Arguments) > 0 {
		var b bytes.Buffer
		if json.Indent(&b, v.Arguments, "", "  ") == nil {
			c.Arguments = b.String()
		} else {
			c.Arguments = string(v.Arguments)
		}
	}
	for i, q := range questionsOf(v) {
		c.Fields = append(c.Fields, newField(c.ID, i, q))
	}
	return c
}

// questionsOf are those of a prompt that has any.
func questionsOf(v *prompt.View) []question.Question {
	if len(v.Questions) == 0 {
		return nil
	}
	questions, err := question.Decode([]byte(v.Questions))
	if err != nil {
		// The book has written them.
		panic("BUG: questions that cannot be read: " + err.Error())
	}
	return questions
}

func newField(card string, i int, q question.Question) field {
	f := field{Question: q, Name: "q" + strconv.Itoa(i), Chosen: map[string]bool{}}
	f.ID = card + "-" + f.Name
	switch q.Kind {
	case question.Choice:
		f.Type = "radio"
		if len(q.Options) > manyOptions {
			f.Type = "select"
		}
		if value, ok := splice.TextOf(q.Default); ok {
			f.Chosen[value] = true
		}
	case question.Multi:
		f.Type = "checkbox"
		for _, value := range splice.Texts(q.Default) {
			f.Chosen[value] = true
		}
	case question.Confirm:
		f.Type = "radio"
		f.Options = []question.Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
		f.Chosen[string(q.Default)] = true
	case question.Text:
		f.Type, f.Hint = f.text()
		if text, ok := splice.TextOf(q.Default); ok {
			f.Value = text
		} else {
			f.Value = string(q.Default)
		}
		if q.Secret {
			f.Type, f.Value = "secret", ""
		}
	}
	return f
}

// text is the control for a text, by what the schema asks of it, and a hint.
func (f *field) text() (control, hint string) {
	var kind, format string
	var bounds []string
	splice.Fields(f.Schema, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			kind = splice.Text(value)
		case "format":
			format = splice.Text(value)
		case "minimum":
			bounds = append(bounds, "at least "+string(value))
		case "maximum":
			bounds = append(bounds, "at most "+string(value))
		case "exclusiveMinimum":
			bounds = append(bounds, "above "+string(value))
		case "exclusiveMaximum":
			bounds = append(bounds, "below "+string(value))
		case "minLength":
			bounds = append(bounds, "at least "+string(value)+" characters")
		case "maxLength":
			bounds = append(bounds, "at most "+string(value)+" characters")
		case "pattern":
			bounds = append(bounds, "matching "+splice.Text(value))
		}
		return true
	})
	control = map[string]string{"email": "email", "uri": "url", "date": "date"}[format]
	switch {
	case kind == "integer":
		control, hint = "number", "a whole number"
	case kind == "number":
		control, hint = "number", "a number"
	case control == "email":
		hint = "an email address"
	case control == "url":
		hint = "a whole address, such as https://example.com"
	case control == "date":
	case format == "date-time":
		control, hint = "text", "a date and time, such as 2026-01-31T12:00:00Z"
	default:
		control = "text"
	}
	if len(bounds) > 0 {
		if hint != "" {
			hint += ", "
		}
		hint += strings.Join(bounds, ", ")
	}
	return control, hint
}

// Required reports whether there must be an answer.
func (f *field) Required() bool { return !f.Optional && len(f.Default) == 0 }

// Grouped reports whether the control is a group of several.
func (f *field) Grouped() bool { return f.Type == "radio" || f.Type == "checkbox" }

// Asks says what the prompt wants, as the beginning of a sentence.
func (c *card) Asks() string {
	switch c.Kind {
	case "run":
		return "May this tool run?"
	case "deliver":
		return "May this result go to the model?"
	}
	return "A question for you"
}
