package relay

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/gateway/catalog"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

const (
	// strictField asks that what a translation cannot say is an error.
	strictField = "warmpath-strict"
	// lossesField lists it where it is none.
	lossesField = "warmpath-losses"
	// eventsField asks for the events of our own in a stream.
	eventsField = "warmpath-events"
)

// translation is the part of an exchange whose client and provider speak
// different dialects.
type translation struct {
	client, vendor *codec
	stream         bool // the client wants one
	// losses are what the request could not say there, said what the reply cannot
	// say here.
	losses, said rewrite.Losses
	decoder      streamDecoder
	// encoder is of a streamed reply, fold of a whole one.
	encoder streamEncoder
	fold    rewrite.Fold
	options replyOptions
	// out is what the client gets next; it has it once sent is set.
	out  []byte
	sent bool
	// ended says that the reply has said itself that it is over.
	ended bool
	// array says that the client takes its stream as one JSON array, whose
	// elements were begun.
	array, begun bool
	yield        func(*rewrite.Event) // take, bound once
	// names are the client's of tools that are called otherwise there.
	names map[string]string
	// kept is what the client can go on from by name; nil where it cannot.
	kept *keeping
	// betas are those that the request needs besides those of continuity.
	betas []string
	// chain makes one reply of several calls; nil where there is one.
	chain *chaining
	// scribe writes down what is said; nil writes nothing.
	scribe *scribe
}

// translatable reports whether the request can be put into another dialect.
func (x *exchange) translatable() bool {
	return codecs[x.req.Dialect] != nil && (x.req.Operation == OpGenerate || x.req.Operation == OpCountTokens && counters[x.req.Dialect] != nil)
}

// translates reports whether the request has to be translated.
func (x *exchange) translates() bool { return x.target.Dialect != x.req.Dialect }

// takenApart reports whether request and reply are taken apart and put together
// anew: those that are translated, those whose reply may take several calls, those
// for which the gateway runs tools, and those whose client asks for something of our
// own in the reply.
func (x *exchange) takenApart() bool {
	return x.translates() || x.set != nil || x.req.Operation == OpGenerate && x.translatable() && (x.continues() && !x.beyond() || x.asksOwn())
}

// asksOwn reports whether a client of the Responses API asks for our extensions.
func (x *exchange) asksOwn() bool {
	return x.req.Dialect == rewrite.Responses && (len(x.req.Field(eventsField)) > 0 || responses.Asks(x.asked))
}

// translate makes the request that the provider gets of one in another dialect.
// What it has no words for is listed, and refused if the client wants no loss.
func (x *exchange) translate() *rewrite.Failure {
	if x.req.Operation == OpCountTokens {
		return x.countTokens()
	}
	plain, kept, failure := x.recallNamed(x.asked)
	if failure != nil {
		return failure
	}
	x.cacheKey = digest("cache", []byte(x.req.tenant()), []byte(x.conversation(plain)))
	t := &translation{client: codecs[x.req.Dialect], vendor: codecs[x.target.Dialect], kept: kept}
	c, err := t.client.decodeRequest(plain, "")
	if err != nil {
		return badJSON(err)
	}
	if t.chain = x.chained(c); t.chain != nil {
		// Further calls outlive the request's own memory.
		if c, err = t.client.decodeRequest(bytes.Clone(plain), ""); err != nil {
			return badJSON(err)
		}
	}
	if c.Model = x.target.Model; x.req.Dialect == rewrite.Gemini {
		c.Stream, t.array = x.streams()
	}
	t.stream = c.Stream
	if failure := x.unthreaded(c); failure != nil {
		return failure
	}
	if failure := overfull(c); failure != nil {
		return failure
	}
	if failure := withheld(c); failure != nil {
		return failure
	}
	t.betas = x.declaring(c)
	asked := c.Settings() // before anything is added, or laid out otherwise
	offered := x.offer(c)
	if kept.keeps() && c.Store == rewrite.On {
		c.Store = rewrite.Unset // the reply is kept here
	}
	if t.chain != nil {
		t.chain.conversation = apart(c)
	}
	body, err := x.encode(c, &t.losses)
	if err != nil {
		return badJSON(err)
	}
	offered.unlisted(&t.losses)
	t.losses.Locate(c, t.client.member)
	if kept != nil {
		asAsked(t.losses.All, x.asked, plain)
	}
	if failure := x.missed(t.losses.All); failure != nil {
		return failure
	}
	if failure := x.strict(t.losses.All); failure != nil {
		return failure
	}
	t.options = replyOptions{
		provider: x.target.Provider.Name, model: x.facts.Model, id: t.client.mark + madeID(),
		request: asked, events: len(x.req.Field(eventsField)) > 0, report: &x.record.Report, losses: &t.said,
	}
	kept.ask(&t.options)
	t.names = otherNames(asked.Tools, t.vendor.toolName)
	t.yield = t.take
	if t.chain != nil {
		t.chain.chain = rewrite.NewChain(t.take, t.chain.more)
		t.yield, t.chain.began = t.chain.chain.Add, x.record.Arrived
		if h := offered.hide(x, t); h != nil {
			t.chain.hidden = h
			t.chain.chain.Hide(h.hides, h.called, x.req.Dialect != rewrite.Completions)
		}
	}
	x.translation, x.vendor, x.speaks = t, &dialects[x.target.Dialect], x.target.Dialect
	x.record.Stream, x.record.Spoken = c.Stream, x.target.Dialect
	x.record.Losses = t.losses.All
	x.point(t.vendor.path(c), t.array)
	x.plain, x.path = body, metrics.PathTranslate
	x.readAgain(body)
	x.send(x.warm(body))
	return nil
}

// maxTools is more than any provider takes: a catalogue that is searched has 10,000.
const maxTools = 10_000

// overfull refuses more tools than the work on them is worth, which grows faster than
// their number.
func overfull(c *rewrite.Conversation) *rewrite.Failure {
	if len(c.Tools) <= maxTools && len(c.Choice.Allowed) <= maxTools {
		return nil
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Param: "tools", Message: "The request has more than " +
		strconv.Itoa(maxTools) + " tools, which no provider takes. Offer fewer."}
}

// withheld refuses to demand a call of a tool that is not offered at the end.
func withheld(c *rewrite.Conversation) *rewrite.Failure {
	if c.Choice.Mode != "tool" || !c.Declares() || c.Offered()[c.Choice.Name] {
		return nil
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Param: "tool_choice", Message: "tool_choice demands a call of " +
		shownName(c.Choice.Name) + ", which is not offered at the end of the conversation. Offer it, or demand another tool."}
}

// encode writes a conversation for the provider, as its model takes it. The
// conversation may be changed.
func (x *exchange) encode(c *rewrite.Conversation, losses *rewrite.Losses) ([]byte, error) {
	if x.translates() {
		c.CacheKey = x.cacheKey
		c.NameCalls()
		if x.forgetting {
			c.Forget(losses)
		}
		c.Fit(catalog.Limits(x.target.Dialect, c.Model), x.target.Provider.Name, losses)
		switch {
		case x.marksEnds(c):
			c.MarkEnds()
		case x.marksStart(c):
			c.MarkStart()
		}
	}
	return codecs[x.target.Dialect].encodeRequest(c, x.target.Provider, losses)
}

// readAgain gives the planner the request as it is sent, not as it came.
func (x *exchange) readAgain(body []byte) {
	if x.prompt != nil {
		x.relay.recall.Release(x.prompt)
		x.prompt = nil
	}
	if x.plannable() {
		if prompt, err := x.relay.recall.ReadFacts(body); err == nil {
			x.prompt = prompt
		}
	}
}

// streams tells from the path of a request to Gemini whether the client wants a
// stream, and whether as a JSON array.
func (x *exchange) streams() (stream, array bool) {
	stream = bytes.HasSuffix(x.req.Read, []byte(":streamGenerateContent"))
	sse := slices.ContainsFunc(bytes.Split(x.req.Query, []byte("&")), func(part []byte) bool { return string(part) == "alt=sse" })
	return stream, stream && !sse
}

// madeID is the name of a reply that has none.
func madeID() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// missed refuses a request whose answer would be another one, unless the client has
// said that it takes any loss.
func (x *exchange) missed(losses []rewrite.Loss) *rewrite.Failure {
	at := slices.IndexFunc(losses, func(l rewrite.Loss) bool { return l.Missing })
	asked := x.req.Field(strictField)
	if at < 0 || string(asked) == "0" || len(asked) == 0 && x.target.Provider.LeavesOut {
		return nil
	}
	var missing []rewrite.Loss
	for _, loss := range losses {
		if loss.Missing {
			missing = append(missing, loss)
		}
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Param: losses[at].Path, Message: "The provider " + x.record.Provider +
		" cannot do all of this request: " + listed(missing) + ". Leave that out, ask a model whose provider has it, or send " +
		strictField + ": 0 to go on without."}
}

// strict refuses a request whose client wants no loss.
func (x *exchange) strict(losses []rewrite.Loss) *rewrite.Failure {
	if asked := x.req.Field(strictField); len(losses) == 0 || len(asked) == 0 || string(asked) == "0" {
		return nil
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: "The provider " + x.record.Provider + " speaks " +
		x.target.Dialect.String() + ", which cannot say all of this request: " + listed(losses) +
		". Leave that out, or send no " + strictField + " header."}
}

// maxListed bounds a list of losses, in bytes.
const maxListed = 2 << 10

// listed are losses in one line of visible characters.
func listed(losses []rewrite.Loss) string {
	var b strings.Builder
	for i, loss := range losses {
		if b.Len() > maxListed {
			b.WriteString("; and more")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(loss.Path)
		b.WriteString(" (")
		b.WriteString(loss.Why)
		b.WriteByte(')')
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, b.String())
}

// forwarded are the client's header lines that a provider of another dialect gets
// too: who asks, and whose trace it is.
var forwarded = []string{"user-agent", "traceparent", "tracestate", "baggage", "x-request-id", "x-client-request-id"}

// translatedFields are the header lines of a request that was translated.
func (x *exchange) translatedFields() {
	out := append(x.lines.up[:0], upstream.Field{Name: []byte("Content-Type"), Value: []byte("application/json")}, uncompressed)
	out = append(out, x.translation.vendor.fields...)
	for _, field := range x.req.Fields {
		if slices.ContainsFunc(forwarded, field.Is) || x.speaks == rewrite.Messages && field.Is("anthropic-beta") {
			out = append(out, field)
		}
	}
	if field, ok := x.credential(); ok {
		out = append(out, field)
	}
	out = withBetas(out, x.missing(x.translation.betas))
	if x.warmth != nil {
		out = withBetas(out, x.warmth.betas)
	}
	x.lines.up, x.out.Fields = out, out
}

// declaring are the betas that a model wants of a client which says itself what of
// its tools is offered when. They go along from the first request on.
func (x *exchange) declaring(c *rewrite.Conversation) []string {
	able := x.target.Provider.Abilities(c.Model)
	switch {
	case x.target.Dialect != rewrite.Messages || !c.Declares():
	case able.Define:
		return []string{betaDefine}
	case able.Reference:
		return []string{betaByName}
	}
	return nil
}

// loginMark begins Anthropic's login tokens, which are no keys and good for no other
// vendor.
const loginMark = "sk-ant-oat"

// credential is the configured key, or the client's own in the place where this
// provider looks for it.
func (x *exchange) credential() (upstream.Field, bool) {
	p := x.target.Provider
	if !p.Key.IsZero() {
		return keyField(p.KeyStyle, p.Key.Reveal()), true
	}
	if x.req.OwnKey || p.KeyStyle == catalog.KeyNone || p.KeyStyle == catalog.KeySigned {
		return upstream.Field{}, false
	}
	key := clientKey(x.req)
	if len(key) == 0 {
		return upstream.Field{}, false
	}
	if bytes.HasPrefix(key, []byte(loginMark)) {
		if x.target.Dialect != rewrite.Messages {
			return upstream.Field{}, false // it is nobody else's to see
		}
		return keyField(catalog.KeyBearer, string(key)), true
	}
	return keyField(p.KeyStyle, string(key)), true
}

// clientKey is the credential that the client has sent, wherever its dialect has
// it.
func clientKey(req *Request) []byte {
	for _, field := range req.Fields {
		switch {
		case field.Is("authorization"):
			if scheme, token, _ := bytes.Cut(field.Value, []byte(" ")); bytes.EqualFold(scheme, []byte("bearer")) {
				return bytes.TrimSpace(token)
			}
		case slices.ContainsFunc(credentials[1:], field.Is):
			return field.Value
		}
	}
	return queryKey(req.Query)
}

// take takes an event of the reply.
func (t *translation) take(e *rewrite.Event) {
	if e.Kind == rewrite.EventBegin && e.Reply.Created == 0 {
		reply := *e.Reply
		reply.Created = time.Now().Unix()
		dated := *e
		dated.Reply = &reply
		e = &dated
	}
	t.ended = t.ended || e.Kind == rewrite.EventEnd || e.Kind == rewrite.EventError
	e = t.renamed(e)
	t.scribe.take(e)
	if h := t.chain.hiddenOf(); h != nil {
		if e.Kind == rewrite.EventError && e.Fault != nil {
			told := *e
			told.Fault, e = h.unblamed(e.Fault), &told
		}
		if h.seen.Add(e); e.Kind == rewrite.EventEnd {
			t.save()
		}
	}
	if t.encoder == nil {
		t.fold.Add(e)
		return
	}
	if t.sent {
		t.out, t.sent = t.out[:0], false
	}
	t.out = t.encoder.Append(t.out, e)
	if e.Kind == rewrite.EventEnd && t.kept.keeps() {
		// Before the client has it, which may go on from it at once.
		t.kept.save(t.encoder.(keptReply).Response())
	}
}

// readFault reads the error that a provider has answered with, whatever its
// dialect. What cannot be read is its text.
func readFault(body []byte) *rewrite.Fault {
	f := &rewrite.Fault{}
	if gjson.ValidBytes(body) {
		root := gjson.ParseBytes(body)
		if root.IsArray() { // as a stream of Gemini's begins
			root = root.Get("0")
		}
		at := root.Get("error")
		if !at.IsObject() {
			at = root
		}
		f.Type, f.Code = first(at, "type", "status"), first(at, "code")
		if f.Message = first(at, "message", "Message", "detail"); f.Message == "" {
			f.Message = first(root, "message", "error", "detail")
		}
	}
	if f.Message == "" {
		f.Message = shortText(body)
	}
	return f
}

// first is the first of some members that is a text or a number.
func first(at gjson.Result, names ...string) string {
	for _, name := range names {
		if value := at.Get(name); value.Type == gjson.String || value.Type == gjson.Number {
			return value.String()
		}
	}
	return ""
}

// shortText is the beginning of a text that somebody is to read.
func shortText(body []byte) string {
	const longest = 1000
	text := strings.ToValidUTF8(strings.TrimSpace(string(body[:min(len(body), longest)])), "?")
	if text == "" {
		return "The provider gave no reason."
	}
	return text
}

var errUnreadable = errors.New("the provider's reply is not one of its dialect")
