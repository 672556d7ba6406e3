package console

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// filled is a form as it was sent.
type filled struct{ values map[string][]string }

func (f filled) first(name string) string {
	if all := f.values[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// answer takes the form of a prompt: it checks each field by itself, so that all that
// is wrong is told at once. The page's script gets JSON; without it a page follows.
func (s *Server) answer(ctx *fasthttp.RequestCtx) {
	asScript := strings.Contains(string(ctx.Request.Header.Peek("Accept")), "application/json")
	f := filled{map[string][]string{}}
	for name, value := range ctx.PostArgs().All() {
		f.values[string(name)] = append(f.values[string(name)], string(value))
	}
	id := f.first("prompt")
	who := prompt.Who{Operator: true}
	status, message := fasthttp.StatusOK, ""
	var problems map[string]string
	view, err := s.config.Prompts.Get(who, id)
	if err == nil {
		var reply prompt.Reply
		if reply, problems = f.reply(&view); len(problems) == 0 {
			err = s.config.Prompts.Answer(context.Background(), who, id, reply)
		}
	}
	switch {
	case len(problems) > 0:
		status, message = fasthttp.StatusUnprocessableEntity, "Some answers will not do yet."
	case err != nil:
		status, message = refused(err)
	}
	if asScript {
		ctx.SetStatusCode(status)
		writeJSON(ctx, struct {
			Message  string            `json:"message,omitempty"`
			Problems map[string]string `json:"problems,omitempty"`
		}{message, problems})
		return
	}
	if status == fasthttp.StatusOK {
		ctx.Response.Header.Set("Location", "./")
		ctx.SetStatusCode(fasthttp.StatusSeeOther)
		return
	}
	open := cards(s.openPrompts())
	for _, c := range open {
		if c.ID != id {
			continue
		}
		c.Problem = message
		for i := range c.Fields {
			c.Fields[i].Problem = problems[c.Fields[i].Name]
		}
	}
	s.front(ctx, open)
	ctx.SetStatusCode(status)
}

// refused is the status of an answer that was not taken, and why.
func refused(err error) (status int, message string) {
	problem, invalid := prompt.IsInvalid(err)
	switch {
	case invalid:
		return http.StatusUnprocessableEntity, sentence(problem)
	case errors.Is(err, prompt.ErrAnswered):
		return http.StatusConflict, sentence(err.Error())
	case errors.Is(err, prompt.ErrGone):
		return http.StatusGone, sentence(err.Error())
	case errors.Is(err, prompt.ErrUnreachable):
		return http.StatusServiceUnavailable, sentence(err.Error())
	}
	return http.StatusNotFound, sentence(err.Error())
}

// sentence is the rest of one with its first letter and its end.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// reply is what the form says, or what is wrong with it by the names of its controls.
func (f filled) reply(v *prompt.View) (r prompt.Reply, problems map[string]string) {
	r.Action = f.first("reply")
	r.Turn = f.first("scope") == "turn"
	var w splice.Writer
	switch {
	case r.Action == prompt.Accept && v.Kind == prompt.Question.String():
		r.Content, problems = f.answers(questionsOf(v))
		return r, problems
	case r.Action == prompt.Accept && strings.TrimSpace(f.first("arguments")) != "":
		changes := rewrite.JSON(strings.TrimSpace(f.first("arguments")))
		if splice.ValidDeep(changes) != nil || changes[0] != '{' {
			return r, map[string]string{"arguments": "has to be a JSON object, with the arguments to change"}
		}
		w.Open('{')
		w.Name("arguments")
		w.Raw(changes)
	case r.Action == prompt.Accept && f.first("text") != "":
		w.Open('{')
		w.Name("text")
		w.String(f.first("text"))
	case r.Action == prompt.Decline && strings.TrimSpace(f.first("reason")) != "":
		w.Open('{')
		w.Name("reason")
		w.String(strings.TrimSpace(f.first("reason")))
	case r.Action == prompt.Accept, r.Action == prompt.Decline, r.Action == prompt.Cancel:
		return r, nil
	default:
		return r, map[string]string{"reply": "has to be accept, decline or cancel"}
	}
	w.Close('}')
	r.Content = w.Bytes()
	return r, nil
}

// answers are those to questions by their keys, and what is wrong with each.
func (f filled) answers(questions []question.Question) (content rewrite.JSON, problems map[string]string) {
	problems = map[string]string{}
	var w splice.Writer
	w.Open('{')
	for i := range questions {
		field := newField("", i, questions[i])
		value := f.value(&field)
		var one splice.Writer
		one.Open('{')
		if value != nil {
			one.Name(field.Key)
			one.Raw(value)
		}
		one.Close('}')
		_, err := question.Check(questions[i:i+1], one.Bytes())
		if problem, ok := errors.AsType[*question.Problem](err); ok {
			problems[field.Name] = problem.What
		}
		if value != nil {
			w.Name(field.Key)
			w.Raw(value)
		}
	}
	w.Close('}')
	return w.Bytes(), problems
}

// value is the answer to one question as JSON; nil for none.
func (f filled) value(field *field) rewrite.JSON {
	given := f.values[field.Name]
	var w splice.Writer
	switch field.Kind {
	case question.Multi:
		w.Open('[')
		for _, value := range given {
			w.String(value)
		}
		w.Close(']')
		return w.Bytes()
	case question.Confirm:
		switch f.first(field.Name) {
		case "true":
			return rewrite.JSON("true")
		case "false":
			return rewrite.JSON("false")
		}
		return nil
	default:
	}
	// An empty control is no answer, but where there was a default to be emptied.
	if text := f.first(field.Name); text != "" || len(given) > 0 && field.Value != "" {
		w.String(text)
		return w.Bytes()
	}
	return nil
}
