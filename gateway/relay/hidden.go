package relay

import (
	"context"
	"strconv"
	"strings"

	"warmpath/cache/ledger"
	"warmpath/gateway/prompt"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
)

// maxRounds is how often in one reply the model gets results of tools that the
// gateway has run. After that it is told to answer, once.
const maxRounds = 16

// The results of calls that are not run.
const (
	cutOffText  = "The reply was cut off, so this call was not run. Call it again if it is still needed."
	tooManyText = "Too many tools were called in one reply, so this call was not run. Answer now, without another call."
)

// hidden is the part of a chain by which the gateway runs tools that the client does
// not know of. A nil one runs none.
type hidden struct {
	x   *exchange
	set *tools.Set
	// names are those of the tools, by what the provider calls them, and clients those
	// of the client's that look like tools of the gateway's.
	names   map[string]string
	clients map[string]bool
	session tools.Session
	// calls are those of the reply under way, in order.
	calls []hiddenCall
	any   bool // there was one
	// rounds counts the replies with calls.
	rounds int
	// running are the results of calls that are being run; nil while none is. Stop
	// ends the run.
	running chan runResult
	stop    context.CancelFunc
	people  *people
	// shared says that tools of the client's were called beside.
	shared bool
	// seen is what the client gets of the reply, run where it will be found again,
	// and base how many items come before it.
	seen rewrite.Glimpse
	run  *rewrite.Run
	base int
	// altered says that reasoning was left out of the history: what is bound to that
	// now has to be told from what was bound to the one before.
	altered bool
}

// hiddenCall is a call with its result; nil until it was run.
type hiddenCall struct {
	call   rewrite.Call
	tool   string
	result *tools.Result
}

// runResult is the result of a call, by its place among those of the reply.
type runResult struct {
	at     int
	result tools.Result
}

// hides reports a call of a tool of the gateway's: of one that a model was offered, or
// that it has made up, whose name says whose it would be.
func (h *hidden) hides(call *rewrite.Call) bool { return h.tool(call) != "" }

// tool is the tool of the gateway's that a call is of; empty for none.
func (h *hidden) tool(call *rewrite.Call) string {
	if name, ok := h.names[call.Name]; ok {
		return name
	}
	if call.Namespace == "" && h.set.Owns(call.Name) && !h.clients[call.Name] {
		return call.Name
	}
	return ""
}

// called takes a call that is whole. What answers at once is run.
func (h *hidden) called(item *rewrite.Item) {
	call := item.Call
	call.Arguments = append(rewrite.JSON(nil), call.Arguments...)
	h.calls, h.any = append(h.calls, hiddenCall{call: call, tool: h.tool(&call)}), true
	at := len(h.calls) - 1
	known := *item
	known.Call.Name = h.calls[at].tool
	h.x.scribe.call(&known)
	if tool := h.set.Find(h.calls[at].tool); (tool == nil || tool.Instant) && h.rounds < maxRounds {
		h.ran(at, h.set.Run(h.x.ctx, h.calls[at].asTool(h.session, at)))
	}
}

// session is whose tools are run.
func (x *exchange) session() tools.Session {
	s := tools.Session{Tenant: x.req.Tenant(), Conversation: x.conversationID(), Turn: turnOf(x.translation.chain.conversation)}
	s.Wait = prompt.ParseWait(x.req.Field(prompt.WaitHeader))
	if s.Attended = prompt.Capable(x.req.Field(prompt.CapabilitiesHeader), prompt.CapableForm); !x.translation.stream && s.Wait == 0 {
		s.Wait = -1 // nobody could be told that somebody is being asked
	}
	if x.scribe != nil {
		s.Notify = x.scribe.notify
	}
	if book := x.settings.Prompts; book != nil {
		book.Adopt(&s, x.req.Field(prompt.ParentHeader), x.req.Field(prompt.AgentHeader))
	}
	return s
}

// turnOf names the turn of a conversation by how often the user has spoken: tools that
// answer in between begin no other one.
func turnOf(c *rewrite.Conversation) string {
	spoken := 0
	for i := range c.Items {
		if item := &c.Items[i]; item.Kind == rewrite.ItemMessage && item.Role == rewrite.RoleUser {
			spoken++
		}
	}
	return strconv.Itoa(spoken)
}

func (c *hiddenCall) asTool(session tools.Session, order int) tools.Call {
	session.Order = order
	return tools.Call{ID: c.call.ID, Name: c.tool, Arguments: c.call.Arguments, Session: session}
}

// ran takes the result of a call, and tells the user what of it is for people.
func (h *hidden) ran(at int, result tools.Result) {
	h.calls[at].result = &result
	source := tools.SourceMCP
	if tool := h.set.Find(h.calls[at].tool); tool != nil {
		source = tool.Source
	}
	h.x.relay.metrics.ToolRan(source, result.Failed)
	h.x.scribe.result(h.calls[at].call.ID, h.calls[at].tool, result.Parts, result.Failed)
	h.x.translation.chain.chain.Say(addressed(result.Parts))
	h.x.translation.tellUser(result.Parts)
}

// userTeller is an encoder whose dialect has an event for what is addressed to the
// user.
type userTeller interface {
	AppendUserMessage(dst []byte, content rewrite.JSON) []byte
}

// tellUser tells a client that asks for our own events what a tool has addressed to the
// user, with its annotations.
func (t *translation) tellUser(parts []rewrite.Part) {
	teller, ok := t.encoder.(userTeller)
	content := []byte("[")
	for i := range parts {
		part := &parts[i]
		if provider, user := audience.For(part.Annotations); !user || provider || part.Kind != rewrite.PartText {
			continue
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = splice.AppendString(append(content, `{"type":"text","text":`...), []byte(part.Text))
		if part.MIME != "" {
			content = splice.AppendString(append(content, `,"mimeType":`...), []byte(part.MIME))
		}
		content = append(append(append(content, `,"annotations":`...), part.Annotations...), '}')
	}
	if !ok || len(content) == 1 {
		return
	}
	if t.sent {
		t.out, t.sent = t.out[:0], false
	}
	t.out = teller.AppendUserMessage(t.out, append(content, ']'))
}

// addressed is what of a result is spoken to the user: texts that say so. What is for
// the model too is a result like any other.
func addressed(parts []rewrite.Part) string {
	var texts []string
	for i := range parts {
		provider, user := audience.For(parts[i].Annotations)
		if user && !provider && parts[i].Kind == rewrite.PartText && strings.TrimSpace(parts[i].Text) != "" {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// pending reports calls in the reply under way.
func (h *hidden) pending() bool { return h != nil && len(h.calls) > 0 }

// course decides what becomes of a reply with calls of the gateway's.
func (h *hidden) course(stop *rewrite.Stop, called bool) rewrite.Course {
	h.shared = called
	switch stop.Reason {
	case rewrite.StopTools, rewrite.StopEnd, rewrite.StopPause:
	default:
		h.refuse(cutOffText)
		return rewrite.CourseEnd
	}
	if h.rounds >= maxRounds {
		h.refuse(tooManyText)
	}
	for i := range h.calls {
		if h.calls[i].result == nil {
			return rewrite.CourseWait
		}
	}
	return h.settled(stop)
}

// settled decides what becomes of the reply once all of its calls have been run.
func (h *hidden) settled(stop *rewrite.Stop) rewrite.Course {
	switch {
	case h.shared: // the client has calls to answer first
		return rewrite.CourseEnd
	case h.rounds > maxRounds:
		*stop = rewrite.Stop{Reason: rewrite.StopEnd}
		return rewrite.CourseEnd
	}
	return rewrite.CourseTools
}

// refuse answers the calls that were not run.
func (h *hidden) refuse(why string) {
	for i := range h.calls {
		if h.calls[i].result == nil {
			result := tools.Failure(why)
			h.calls[i].result = &result
		}
	}
}

// begin runs the calls that were not run yet, one after the other, while the client's
// connection is looked after. It holds nothing of the exchange.
func (h *hidden) begin(ctx context.Context) {
	ctx, h.stop = context.WithCancel(ctx)
	var due []runResult
	var calls []tools.Call
	for i := range h.calls {
		if h.calls[i].result == nil {
			due, calls = append(due, runResult{at: i}), append(calls, h.calls[i].asTool(h.session, i))
		}
	}
	results := make(chan runResult, len(due))
	h.running = results
	set := h.set
	notice, logged := h.people.notice, h.session.Notify
	notify := func(e prompt.Event) {
		if logged != nil {
			logged(e)
		}
		notice(e)
	}
	go func() {
		defer close(results)
		for i := range due {
			calls[i].Session.Notify = notify
			due[i].result = set.Run(ctx, calls[i])
			if ctx.Err() != nil {
				return
			}
			if results <- due[i]; due[i].result.Ended != nil {
				return
			}
		}
	}()
}

// end ends a run, if there is one.
func (h *hidden) end() {
	if h != nil && h.stop != nil {
		h.stop()
		h.running, h.stop = nil, nil
	}
}

// results are the items by which the model is told what its calls gave.
func (h *hidden) results() (items []rewrite.Item) {
	for i := range h.calls {
		c := &h.calls[i]
		if c.result == nil {
			continue
		}
		told := audience.Told(c.result.Parts, c.result.Failed)
		if c.result.Instead != nil {
			told = audience.Told([]rewrite.Part{{Text: *c.result.Instead}}, c.result.Failed)
		}
		items = append(items, rewrite.Item{
			Kind: rewrite.ItemResult, Call: rewrite.Call{ID: c.call.ID, Name: c.tool, Namespace: c.call.Namespace},
			Parts: told, Failed: c.result.Failed,
		})
	}
	return items
}

// next begins the reply that goes on with results.
func (h *hidden) next() {
	h.x.relay.metrics.ToolRound()
	h.calls, h.rounds = nil, h.rounds+1
}

// native gives items that a provider has made the names of their tools.
func (h *hidden) native(items []rewrite.Item, names map[string]string) []rewrite.Item {
	if h == nil {
		return items
	}
	for i := range items {
		if items[i].Kind != rewrite.ItemCall {
			continue
		}
		if name, ok := h.names[items[i].Call.Name]; ok {
			items[i].Call.Name = name
		} else if name, ok := names[items[i].Call.Name]; ok {
			items[i].Call.Name = name
		}
	}
	return items
}

// save keeps what the client is not told of the reply, before it sees the end of it.
// Without that the next request is sent as the client has it.
func (t *translation) save() {
	h := t.chain.hiddenOf()
	if h == nil || h.run == nil {
		return
	}
	last := h.native(t.chain.chain.Next(), t.names)
	entry := ledger.Entry{Items: append([]rewrite.Item(nil), t.chain.conversation.Items[h.base:]...)}
	for i := range last {
		item := &last[i]
		switch {
		case item.Kind != rewrite.ItemCall || !item.Incomplete:
			entry.Items = append(entry.Items, *item)
		case !h.set.Has(item.Call.Name) && !h.set.Owns(item.Call.Name):
			return // nobody knows what the client makes of half a call
		}
	}
	if !h.any && !h.altered && !rewrite.Misplaced(entry.Items, h.x.binds()) {
		return // nothing is lost with it
	}
	entry.Results = h.results()
	h.run.Reply = h.seen
	h.x.keepLedger(h.run, &entry)
}

// hiddenOf is what a chain hides; nil for nothing.
func (c *chaining) hiddenOf() *hidden {
	if c == nil {
		return nil
	}
	return c.hidden
}
