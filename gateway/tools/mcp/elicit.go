package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/gateway/question"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

// Asked is what a server wants to know in the middle of a call.
type Asked struct {
	// Call is the call, and Server the name of its server.
	Call   tools.Call
	Server string
	// Message stands above the questions.
	Message   string
	Questions []question.Question
}

// Ask asks people and gives what came of it, with the answers, checked, if the
// outcome is Answered. It returns when ctx ends.
type Ask func(ctx context.Context, asked Asked) (question.Outcome, rewrite.JSON)

// elicit answers a request that a server makes of its own. It belongs to the call in
// whose reply it stands; where a connection has no replies of their own, to the only
// call that is under way. Of several, nobody can tell whose user is meant.
func (s *server) elicit(ctx context.Context, c *session, r *protocol.ElicitRequest) (*protocol.ElicitResult, error) {
	params, ok := r.Params.Meta[paramsKey].(string)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no parameters"}
	}
	token, _ := r.Params.Meta[callKey].(string)
	f := c.asker(token)
	if f == nil {
		s.owner.Log.Warn("an MCP server asks for something while it has no call, or several, and is told that nobody answers", "server", s.config.Name)
		return &protocol.ElicitResult{Action: "cancel"}, nil
	}
	// The connection does not end what it asks for when it is closed, but the call ends
	// with its own context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	return s.ask(ctx, f, rewrite.JSON(params))
}

// ask has people answer a form. The error is for the server: of a form that it must
// not ask for.
func (s *server) ask(ctx context.Context, f *flight, params rewrite.JSON) (*protocol.ElicitResult, error) {
	e, err := question.ReadElicitation(params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	// A form without fields is a question in itself.
	bare := len(e.Questions) == 0
	if bare {
		e.Questions = []question.Question{{Key: agreement, Kind: question.Confirm, Text: e.Message}}
	}
	outcome, answers := question.Unasked, rewrite.JSON(nil)
	if s.owner.Ask != nil {
		f.clock.stop()
		outcome, answers = s.owner.Ask(ctx, Asked{Call: f.call, Server: s.config.Name, Message: e.Message, Questions: e.Questions})
		f.clock.goOn()
	}
	s.said.hide(e.Questions, answers)
	if bare && outcome == question.Answered {
		if !gjson.GetBytes(answers, agreement).Bool() {
			outcome = question.Declined
		}
		answers = rewrite.JSON(`{}`)
	}
	switch outcome {
	case question.Answered:
		content := map[string]any{}
		if err := json.Unmarshal(answers, &content); err != nil {
			return nil, errors.New("the answers are no object")
		}
		return &protocol.ElicitResult{Action: "accept", Content: content}, nil
	case question.Declined:
		return &protocol.ElicitResult{Action: "decline"}, nil
	case question.Cancelled, question.Unasked, question.Invalid:
	}
	return &protocol.ElicitResult{Action: "cancel"}, nil
}

// agreement is the key of the one question of a form without fields.
const agreement = "agreed"
