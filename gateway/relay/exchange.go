package relay

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/gateway/catalog"
	"warmpath/gateway/tools"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// exchange is one request on its way.
type exchange struct {
	relay       *Relay
	settings    *Settings
	ctx         context.Context //nolint:containedctx // the request's own life
	req         *Request
	client      *dialect
	vendor      *dialect        // that the provider is spoken to in
	speaks      rewrite.Dialect // the same by its name
	facts       rewrite.Facts
	prompt      *continuity.Facts // of the body that is sent, if it was read; lent until leave
	target      catalog.Target
	set         *tools.Set // that the gateway runs at the target; nil for none
	offered     bool       // some of it is in the request
	restored    bool       // so are calls that the client does not know of
	aside       *aside     // why none is at this target; nil if it was not refused
	targets     targets
	out         upstream.Request
	asked       []byte      // the client's request, unpacked, less what is for people alone
	whole       []byte      // the same with it
	sifted      [2]*sifting // what was decided of results: in asked, and in what it recalls
	plain       []byte      // what continuity plans from: asked, or its translation
	room        roomy       // that plain takes beside the client's own
	named       []byte      // the same, with the model's name at the provider
	opening     bool        // no earlier reply in the request
	path        metrics.Path
	warmth      *warmth      // nil where continuity does not apply
	explained   *Explanation // of a call whose warmth is gone
	rescued     bool         // the request was mended although it is left alone
	evidence    continuity.Evidence
	judged      bool // there is evidence
	notes       notes
	translation *translation // nil where client and provider speak alike
	counting    *counting    // tokens of a prompt in another dialect
	cacheKey    string       // of the conversation, for the provider
	tenant      string       // who asks; set once the scope is known
	ahead       []byte       // of the reply's body, read before it was handed over
	tries       int          // again at this target
	forgetting  bool         // reasoning was left out after a refusal
	disowning   bool         // thinking of others was left out after a refusal
	record      Record
	scribe      *scribe // nil where the log is off

	lines *lines // nil once the reply's head has been handed over
	body  Body
	tap   tap
	reply Reply
}

// lines is room for header lines on their way up and down.
type lines struct{ up, down []upstream.Field }

var (
	exchanges = sync.Pool{New: func() any { return new(exchange) }}
	allLines  = sync.Pool{New: func() any { return new(lines) }}
)

// newExchange begins an exchange; finish counts it out and recycle ends its use.
func newExchange(r *Relay, d rewrite.Dialect, arrived time.Time) *exchange {
	x := exchanges.Get().(*exchange)
	x.relay, x.settings = r, r.settings.Load()
	x.client, x.vendor, x.speaks = &dialects[d], &dialects[d], d
	x.record.Dialect, x.record.Arrived = d, arrived
	x.takeLines()
	r.metrics.Enter()
	return x
}

// leave lets go of the request, whose bytes are its owner's again once it has been
// served: what is to be told of them is told now.
func (x *exchange) leave() {
	if x.req == nil || x.stays() {
		return
	}
	x.rest()
	x.record.Explanation, x.explained = x.explained, nil
	x.req, x.out, x.asked, x.whole, x.tenant = nil, upstream.Request{}, nil, nil, ""
	x.room.give()
}

// rest lets go of what only the call that is over has needed. Another one may follow,
// once tools have been run; people may take an hour for that.
func (x *exchange) rest() {
	if x.warmth != nil {
		x.explained = x.explanation()
	}
	if x.prompt != nil {
		x.relay.recall.Release(x.prompt)
	}
	x.plain, x.named, x.warmth, x.prompt, x.out.Body = nil, nil, nil, nil, nil
}

// takeLines takes room for header lines, and giveLines gives it back.
func (x *exchange) takeLines() {
	if x.lines == nil {
		x.lines = allLines.Get().(*lines)
	}
}

func (x *exchange) giveLines() {
	if x.lines == nil {
		return
	}
	clear(x.lines.up)
	clear(x.lines.down)
	allLines.Put(x.lines)
	x.lines, x.out.Fields, x.reply.Fields = nil, nil, nil
}

// handedOver gives back what nobody needs once the head of the reply has gone:
// a stream may go on for an hour.
func (x *exchange) handedOver() {
	if x.stays() {
		return
	}
	x.leave()
	x.giveLines()
}

// recycle ends the exchange's use. Nothing of it may be held on to.
func (x *exchange) recycle() {
	x.tap.drop()
	*x = exchange{}
	exchanges.Put(x)
}

// prepare reads the facts, resolves the target and builds the upstream request.
func (x *exchange) prepare() *rewrite.Failure {
	plain, failure := x.peek()
	if failure != nil {
		return failure
	}
	if failure := x.badMode(); failure != nil {
		return failure
	}
	x.asked = plain
	if failure := x.resolve(); failure != nil {
		return failure
	}
	return x.aim()
}

// aim builds the upstream request for the target.
func (x *exchange) aim() *rewrite.Failure {
	x.record.Provider, x.record.Model, x.tries = x.target.Provider.Name, shownName(x.target.Model), 0
	x.record.Withheld = x.target.Withheld
	x.set, x.offered, x.restored = x.toolSet(), false, false
	x.address()
	x.out.Method = x.req.Method
	if x.takenApart() {
		return x.translate()
	}
	body, failure := x.native()
	if failure != nil {
		return failure
	}
	if x.plain = x.asked; !same(body, x.asked) {
		x.readAgain(body)
	}
	if span := x.modelSpan(body); x.target.Renamed && span.Len() > 0 {
		name := gjson.AppendJSONString(nil, x.target.Model)
		body = splice.Apply(nil, body, []splice.Edit{{Span: span, Text: name}})
		if x.prompt != nil {
			x.prompt.Rename(x.target.Model, len(name))
		}
	}
	x.send(x.warm(body))
	return nil
}

// send makes a body the one that goes out: the client's own bytes, packed as
// they came, unless something in them has changed.
func (x *exchange) send(body []byte) {
	if x.translation != nil {
		x.out.Body = body
		if x.translates() {
			x.translatedFields()
		} else {
			x.fields(true)
		}
		return
	}
	x.out.Body, x.path = x.req.Body, metrics.PathThrough
	changed := !same(x.asked, x.whole) || !same(body, x.plain)
	if changed {
		x.out.Body, x.path = body, metrics.PathSplice
	}
	x.fields(changed)
}

// same reports whether two bodies are the same memory.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// modelSpan is where the model stands in a body of the client's dialect.
func (x *exchange) modelSpan(body []byte) rewrite.Span {
	if same(body, x.asked) {
		return x.facts.ModelSpan
	}
	return splice.PeekModel(body).ModelSpan
}

// peek reads what routing needs. The plain body is returned: the client's own
// bytes, unpacked if they were compressed.
func (x *exchange) peek() ([]byte, *rewrite.Failure) {
	x.facts.Model = x.req.Model
	if x.client.peek == nil || !x.req.Operation.named() && !x.req.Holds {
		x.whole = x.req.Body
		return x.req.Body, nil
	}
	x.room.room = x.req.Room
	plain, failure := decodeBody(x.req.Body, x.req.Field("content-encoding"), x.settings.DecodedBody, &x.room)
	if failure != nil {
		return nil, failure
	}
	x.whole = plain
	if plain, x.sifted[0], failure = x.withhold(plain); failure != nil || !x.req.Operation.named() {
		return plain, failure
	}
	facts, failure := x.read(plain)
	if failure != nil {
		return nil, failure
	}
	if x.req.Model != "" {
		facts.Model = x.req.Model
	}
	x.facts, x.record.Stream = facts, facts.Stream
	if x.prompt != nil {
		x.opening = x.req.Operation == OpGenerate && !answered(x.prompt.Messages)
	} else {
		x.opening = x.req.Operation == OpGenerate && x.client.opening(plain)
	}
	return plain, nil
}

// read takes the facts from a plain body. Who validates reads all of it; who
// only forwards needs to know where to.
func (x *exchange) read(plain []byte) (rewrite.Facts, *rewrite.Failure) {
	if x.settings.Mode == rewrite.ModeOff {
		if x.req.Model != "" {
			return rewrite.Facts{}, nil
		}
		return splice.PeekModel(plain), nil
	}
	if x.plannable() {
		// Whoever plans reads all of it. Why something cannot be read is found
		// out below.
		if prompt, err := x.relay.recall.ReadFacts(plain); err == nil {
			x.prompt = prompt
			return rewrite.Facts{Model: prompt.Model, ModelSpan: prompt.ModelSpan, Stream: prompt.Stream}, nil
		}
	}
	// What is nested deeper than planning reads goes out as it came.
	if err := splice.ValidDeep(plain); err != nil {
		return rewrite.Facts{}, badJSON(err)
	}
	facts, err := x.client.peek(plain)
	if err != nil {
		return rewrite.Facts{}, badJSON(err)
	}
	return facts, nil
}

// badJSON turns a reading error into a failure that names the place.
func badJSON(err error) *rewrite.Failure {
	if failure, ok := errors.AsType[*rewrite.Failure](err); ok {
		return failure
	}
	if syntax, ok := errors.AsType[*splice.SyntaxError](err); ok {
		return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Cause: err, Message: "The request body is not valid JSON: " +
			syntax.Msg + " at byte " + strconv.FormatInt(syntax.Offset, 10) + ". Send one JSON object."}
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: "The request body cannot be read.", Cause: err}
}

// resolve finds the provider and its address.
func (x *exchange) resolve() *rewrite.Failure {
	var err error
	snapshot := x.settings.Catalog
	if name := x.req.Provider; name != "" {
		x.target, err = snapshot.Direct(name, x.req.Dialect, x.facts.Model)
	} else {
		x.target, err = snapshot.Resolve(x.req.Dialect, x.facts.Model, x.translatable())
	}
	if err != nil {
		if failure, ok := errors.AsType[*rewrite.Failure](err); ok {
			return failure
		}
		return &rewrite.Failure{Reason: rewrite.ReasonInternal, Message: "The model cannot be routed.", Cause: err}
	}
	if x.req.Provider == "" {
		x.spread()
	}
	return nil
}

// address builds origin and target of the upstream request.
func (x *exchange) address() {
	path := x.req.Path
	if x.target.Renamed && x.req.ModelSpan.Len() > 0 {
		path = splice.Apply(nil, path, []splice.Edit{{Span: x.req.ModelSpan, Text: []byte(x.target.Model)}})
	}
	x.out.Origin = x.target.Base.Origin()
	target := []byte(x.target.Base.Join(string(path)))
	if query := x.query(); len(query) > 0 {
		target = append(append(target, '?'), query...)
	}
	x.out.Target = target
}

// point sends a request that was written anew to a path of its provider's dialect. In the
// client's own dialect that is where the client has sent it, with all that it says in
// its query, but for streams that come as one array: they are asked for as events.
func (x *exchange) point(path string, array bool) {
	if x.translates() {
		x.out.Target = []byte(x.target.Base.Join(path))
		return
	}
	if x.address(); !array {
		return
	}
	at, query, _ := bytes.Cut(x.out.Target, []byte("?"))
	target := append(bytes.Clone(at), "?alt=sse"...)
	for part := range bytes.SplitSeq(query, []byte("&")) {
		if len(part) > 0 && !bytes.HasPrefix(part, []byte("alt=")) {
			target = append(append(target, '&'), part...)
		}
	}
	x.out.Target = target
}

// replacesKey reports whether the client's credential must not go upstream.
func (x *exchange) replacesKey() bool {
	return x.req.OwnKey || x.target.Provider.HasKey()
}

// query is the client's query, without a key that is not the provider's.
func (x *exchange) query() []byte {
	if !x.replacesKey() || !bytes.Contains(x.req.Query, []byte("key=")) {
		return x.req.Query
	}
	var kept [][]byte
	for part := range bytes.SplitSeq(x.req.Query, []byte("&")) {
		if !bytes.HasPrefix(part, []byte("key=")) {
			kept = append(kept, part)
		}
	}
	return bytes.Join(kept, []byte("&"))
}

// fail ends the exchange with an error of the gateway's own.
func (x *exchange) fail(failure *rewrite.Failure) *Reply {
	status, whole := failure.Reason.Status(), x.client.appendError(nil, failure, "")
	refused, ok := errors.AsType[*refusal](failure)
	if ok {
		status, whole = refused.status, codecs[x.req.Dialect].appendFault(nil, refused.status, refused.fault)
	}
	x.record.Status, x.record.Reason, x.record.Cause = status, failure.Reason, failure.Cause
	x.scribe.failed(failure.Message)
	x.finish()
	defer x.recycle()
	reply := &Reply{
		Status: status,
		Fields: []upstream.Field{{Name: []byte("Content-Type"), Value: []byte("application/json")}},
		Whole:  whole,
	}
	if ok && len(refused.retryAfter) > 0 {
		reply.Fields = append(reply.Fields, upstream.Field{Name: []byte("Retry-After"), Value: refused.retryAfter})
	}
	reply.Length = int64(len(reply.Whole))
	if failure.Reason == rewrite.ReasonBusy || failure.Reason == rewrite.ReasonDraining {
		reply.Fields = append(reply.Fields, upstream.Field{Name: []byte("Retry-After"), Value: []byte("1")})
	}
	return reply
}

// finish counts the exchange. It is called exactly once.
func (x *exchange) finish() {
	r := &x.record
	r.Duration = time.Since(r.Arrived)
	r.Cache = rewrite.OutcomeOf(r.Report.Usage, x.opening)
	used := r.Report.Usage
	if x.translation != nil && x.translation.chain != nil {
		x.translation.chain.over = true
		if r.Call = x.translation.chain.calls; r.Call > 0 {
			r.Call++
			used = x.translation.chain.earlier.Plus(used)
		}
	}
	x.handedOver()
	x.verdict()
	x.spend()
	x.scribe.end()
	if r.Conversation == "" && r.Explanation != nil {
		r.Conversation = r.Explanation.Conversation
	}
	x.relay.metrics.Handle(r.Dialect, r.Provider, r.Model).Done(metrics.Sample{
		Status: r.Status, Reason: r.Reason, Usage: used, Cost: r.Cost,
		Cache: r.Cache, ResponseModel: r.Report.Model,
		Path: x.path, Overhead: r.Overhead, TimeToFirstToken: r.TimeToFirstToken, Duration: r.Duration,
		LongestGap: r.LongestGap, Retries: r.Retries, Stream: r.Stream,
	})
	x.relay.metrics.Lost(r.Dialect, r.Spoken, "request", len(r.Losses))
	x.relay.metrics.Lost(r.Dialect, r.Spoken, "reply", len(r.Said))
	x.relay.metrics.Leave()
	x.relay.observe(r)
}
