package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// opening is that a prompt has opened, or that the one of an id has closed.
type opening struct {
	prompt.View
	closed bool
}

// Prompts follows the prompts of a conversation. Being connected is what makes the
// gateway wait for an answer.
func (c *Client) prompts(ctx context.Context, conversation string, each func(opening)) error {
	path := "/api/prompts/stream?conversation=" + url.QueryEscape(conversation)
	return c.stream(ctx, path, func(name string, data []byte) error {
		var event struct {
			Prompt  prompt.View `json:"prompt"`
			ID      string      `json:"id"`
			Outcome string      `json:"outcome"`
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return fmt.Errorf("reading a prompt: %w", err)
		}
		switch name {
		case "opened":
			each(opening{View: event.Prompt})
		case "closed":
			each(opening{View: prompt.View{ID: event.ID, State: event.Outcome}, closed: true})
		}
		return nil
	})
}

// answer answers a prompt.
func (c *Client) answer(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	resp, err := c.do(ctx, http.MethodPost, "/api/prompts/"+url.PathEscape(id)+"/answer", "application/json", body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// The answers to a prompt that is no question of a tool's.
const (
	once     = "once"
	turn     = "turn"
	never    = "no"
	neverNow = "no-turn"
)

// questionsOf are what a person is asked for a prompt; the error is of one that is not
// understood.
func questionsOf(v *prompt.View) ([]question.Question, error) {
	q := question.Question{Key: "leave", Kind: question.Choice, Options: []question.Option{
		{Value: once, Label: "yes"}, {Value: turn, Label: "yes, for this turn"}, {Value: never, Label: "no"}, {Value: neverNow, Label: "no, for this turn"},
	}}
	switch v.Kind {
	case prompt.Question.String():
		return question.Decode(rewrite.JSON(v.Questions))
	case prompt.Run.String():
		q.Text = "Run " + v.Tool.Name + "?"
		q.Context = string(v.Arguments)
	case prompt.Deliver.String():
		q.Text = "Give the model what " + v.Tool.Name + " gave?"
		q.Context = v.Result
	default:
		return nil, fmt.Errorf("a prompt of the unknown kind %q", v.Kind)
	}
	return []question.Question{q}, nil
}

// headline is who asks.
func headline(v *prompt.View) string {
	from := v.Tool.Name
	if v.Tool.Source != "" && v.Tool.Source != from {
		from += " of " + v.Tool.Source
	}
	if len(v.Path) > 0 {
		from += ", for " + strings.Join(v.Path, "/")
	}
	if v.Message != "" {
		from += ": " + v.Message
	}
	return from
}

// replyTo is the body of the answer to a prompt.
func replyTo(v *prompt.View, outcome question.Outcome, content rewrite.JSON) []byte {
	action, scope := prompt.Accept, ""
	switch outcome {
	case question.Answered:
	case question.Declined:
		action = prompt.Decline
	case question.Cancelled, question.Unasked, question.Invalid:
		action = prompt.Cancel
	}
	if v.Kind != prompt.Question.String() && action == prompt.Accept {
		scope = once
		splice.Fields(content, func(_, value []byte) bool {
			switch splice.Text(value) {
			case turn:
				scope = turn
			case never:
				action = prompt.Decline
			case neverNow:
				action, scope = prompt.Decline, turn
			}
			return true
		})
		content = nil
	}
	if action != prompt.Accept {
		content = nil
	}
	var w splice.Writer
	w.Open('{')
	w.Text("action", action)
	w.Value("content", content)
	w.Text("scope", scope)
	w.Close('}')
	return w.Bytes()
}
