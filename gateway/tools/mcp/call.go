package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

const (
	// mostRounds bounds how often a server asks for more before it answers, and
	// mostBusy how often it may ask for nothing but another try.
	mostRounds, mostBusy = 16, 3
	// longestReason bounds what a server says of its refusal.
	longestReason = 2 << 10
)

// The outcomes of calls, a closed set: they are metric labels.
const (
	OutcomeOK          = "ok"          // the tool has given a result
	OutcomeFailed      = "failed"      // the tool says that it has failed
	OutcomeRefused     = "refused"     // the server has refused the call
	OutcomeTimeout     = "timeout"     // the call has taken too long
	OutcomeCancelled   = "cancelled"   // nobody waits for it any more
	OutcomeUnavailable = "unavailable" // there is no connection to the server
	OutcomeBroken      = "broken"      // the connection was lost during the call
)

// Outcomes lists every outcome, for tables.
var Outcomes = []string{OutcomeOK, OutcomeFailed, OutcomeRefused, OutcomeTimeout, OutcomeCancelled, OutcomeUnavailable, OutcomeBroken}

var (
	errTimeout     = errors.New("the call has taken too long")
	errUnavailable = errors.New("the server is not available")
	errUnsupported = errors.New("the server asks for what the gateway does not do")
	errRounds      = errors.New("the server has asked too often without an answer")
)

// flight is a call that is under way. Its token names it towards its server.
type flight struct {
	ctx   context.Context //nolint:containedctx // a server's question ends with the call
	call  tools.Call
	token string
	clock *clock
}

// run runs a call of a tool, by its server's own name for it.
func (s *server) run(ctx context.Context, tool string, call tools.Call) tools.Result {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &flight{ctx: ctx, call: call, token: strconv.FormatUint(s.tokens.Add(1), 10)}
	f.clock = newClock(s.config.Timeout, func() { cancel(errTimeout) })
	defer f.clock.stop()
	result, err := s.rounds(f, tool)
	var given tools.Result
	outcome := OutcomeOK
	switch {
	case err != nil:
		outcome, given = s.failure(ctx, tool, err)
	default:
		given = tools.Result{Parts: result.parts, Failed: result.failed}
		if given.Failed {
			outcome = OutcomeFailed
		}
	}
	if s.owner.Observe != nil {
		s.owner.Observe(s.config.Name, outcome, time.Since(began))
	}
	return given
}

// answer is what a call has given in the end.
type answer struct {
	parts  []rewrite.Part
	failed bool
}

// rounds calls a tool until it gives a result: a server that needs to know more says
// so in place of one, and is called again with that.
func (s *server) rounds(f *flight, tool string) (answer, error) {
	arguments := json.RawMessage(f.call.Arguments)
	if len(arguments) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	if !gjson.ValidBytes(arguments) || !gjson.ParseBytes(arguments).IsObject() {
		return answer{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the arguments are no JSON object"}
	}
	params := protocol.CallToolParams{Name: tool, Arguments: arguments}
	busy := 0
	for range mostRounds {
		c, result, err := s.once(f, params)
		if err != nil {
			return answer{}, err
		}
		raw := rawOf(result.Meta)
		if !result.NeedsInput() {
			return s.content(f.ctx, c, raw, result)
		}
		requests := gjson.GetBytes(raw, "inputRequests").Map()
		if len(requests) == 0 {
			if busy++; busy > mostBusy {
				return answer{}, errRounds
			}
			select {
			case <-time.After(time.Duration(busy) * time.Second):
			case <-f.ctx.Done():
				return answer{}, f.ctx.Err()
			}
		}
		if params.InputResponses, err = s.inputs(f, requests); err != nil {
			return answer{}, err
		}
		params.RequestState = gjson.GetBytes(raw, "requestState").Str
	}
	return answer{}, errRounds
}

// inputs has people give what a server asks for before it goes on, one after the
// other in the order of the names that it has for them.
func (s *server) inputs(f *flight, requests map[string]gjson.Result) (protocol.InputResponseMap, error) {
	responses := protocol.InputResponseMap{}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if requests[name].Get("method").Str != methodElicit {
			return nil, errUnsupported
		}
		given, err := s.ask(f.ctx, f, rewrite.JSON(requests[name].Get("params").Raw))
		if err != nil {
			return nil, err
		}
		responses[name] = given
	}
	return responses, nil
}

// once calls a tool. A call that has surely not reached its server is made again over
// a new connection.
func (s *server) once(f *flight, params protocol.CallToolParams) (*session, *protocol.CallToolResult, error) {
	for again := true; ; again = false {
		c, err := s.ready(f.ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := c.enter(f); err != nil {
			return nil, nil, err
		}
		attempt := params
		attempt.Meta = protocol.Meta{callKey: f.token}
		result, err := c.client.CallTool(f.ctx, &attempt)
		c.exit(f)
		if err != nil && errors.Is(err, errUnreachable) && f.ctx.Err() == nil {
			wake(c.broken)
		}
		missed := c.remote != nil && c.remote.missed(f.token) || errors.Is(err, protocol.ErrConnectionClosed)
		if err == nil || !missed || !again || f.ctx.Err() != nil {
			return c, result, err
		}
		select { // the connection is over, which it may not know yet
		case <-c.ended:
		case <-time.After(patience):
		case <-f.ctx.Done():
		}
		s.leave(c)
	}
}

// content makes parts of a result. What it links to is read from the same server.
func (s *server) content(ctx context.Context, c *session, raw []byte, result *protocol.CallToolResult) (answer, error) {
	if len(raw) == 0 {
		return answer{failed: result.IsError}, nil // a result without content
	}
	made := content{read: func(uri string) ([]byte, error) {
		resource, err := c.client.ReadResource(ctx, &protocol.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, fmt.Errorf("reading a resource: %w", err)
		}
		return rawOf(resource.Meta), nil
	}}
	made.add(raw)
	if made.skipped > 0 {
		s.owner.Log.Warn("an MCP server gives content of a kind that is not known, which is left out", "server", s.config.Name, "blocks", made.skipped)
	}
	return answer{made.parts, result.IsError}, ctx.Err()
}

// failure is what the model reads of a call without a result. It names the server, and
// nothing of how it is reached.
func (s *server) failure(ctx context.Context, tool string, err error) (outcome string, result tools.Result) {
	var refusal *jsonrpc.Error
	name := `The MCP server "` + s.config.Name + `"`
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return OutcomeTimeout, tools.Failure(name + " has not answered within " + s.config.Timeout.String() + ". The call may have had effects.")
	case ctx.Err() != nil:
		return OutcomeCancelled, tools.Failure("The call was cancelled.")
	case errors.Is(err, errUnavailable), turnedAway(err):
		return OutcomeUnavailable, tools.Failure(name + " is not available at the moment. Go on without its tools, or try again later.")
	case errors.Is(err, errUnsupported):
		return OutcomeRefused, tools.Failure(name + " needs something for this call that is not supported here.")
	case errors.Is(err, errRounds):
		return OutcomeRefused, tools.Failure(name + " has asked for more again and again, and has given no result.")
	case errors.As(err, &refusal) && !errors.Is(err, errUnreachable):
		return OutcomeRefused, tools.Failure(name + " has refused the call of " + clean(tool, longestName) + ": " + s.said.clean(refusal.Message, longestReason))
	}
	s.owner.Log.Warn("a call of an MCP server's tool has failed", "server", s.config.Name, "cause", s.said.clean(bare(err).Error(), longestLine))
	return OutcomeBroken, tools.Failure("The connection to the MCP server \"" + s.config.Name + "\" was lost during the call, which may have had effects.")
}

// turnedAway reports whether a server that was reached took no calls: its proxy said so,
// or it has too many.
func turnedAway(err error) bool {
	var refusal *jsonrpc.Error
	return errors.As(err, &refusal) && refusal.Code == rejected && !errors.Is(err, errUnreachable)
}

// rejected is the library's own code for what no server has answered.
const rejected = -32005

// clock calls a function after a time, which stands still while people are asked.
type clock struct {
	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration
	since   time.Time
	stopped int
}

func newClock(bound time.Duration, ring func()) *clock {
	return &clock{timer: time.AfterFunc(bound, ring), left: bound, since: time.Now()}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped++; c.stopped == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *clock) goOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped--; c.stopped == 0 {
		c.since = time.Now()
		c.timer.Reset(c.left)
	}
}
