package relay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// warmth is the part of an exchange that keeps the prefix warm.
type warmth struct {
	body  []byte // the client's own request, unpacked
	facts *continuity.Facts
	able  continuity.Abilities
	heads []lineage.Head
	known *lineage.Known
	// state is the one that the request goes on from, nil for none; a stranger has
	// states under its history that are another's.
	state    *continuity.State
	stranger bool
	// left is a newer state of the conversation, of which the client has changed
	// what was sent; nil for none.
	left  *continuity.State
	past  past
	plan  *continuity.Plan
	kept  map[continuity.Hash][]byte
	betas []string // of the gateway's own
	// saved says that the next state is in the store.
	saved bool
	// lacks is what the provider will be taken to lack if it accepts the request
	// without; gone is all that the request does without after refusals.
	lacks, gone lack
	// rung is the newest retreat.
	rung retreat
	// marked says that marks are the gateway's, unmarked that they must not be.
	marked, unmarked bool
	// translated says that the client speaks another dialect.
	translated bool
	// blind says that the store did not answer. What it has of the conversation
	// stays good for the next request, and must not give way to this one.
	blind bool
	// passing requests go out as they came, and nothing is remembered of them.
	passing bool
	// stripped says that thinking was left out here, because the request cannot
	// ask the provider to.
	stripped bool
	// observing requests are planned, and go out as they came.
	observing bool
	// asksBinding says that the client itself asked what becomes of thinking that
	// is bound to another prefix.
	asksBinding bool
	// asked says that the provider is asked why its cache missed, early that it is
	// asked in every conversation; unasking that it must not be.
	asked, early, unasking bool
	previous               string // the reply that it is asked about
	// tried are the retreats that this request has made.
	tried map[retreat]bool
}

// plannable reports whether continuity applies to the request at all.
func (x *exchange) plannable() bool {
	return x.relay.memory != nil && x.speaks == rewrite.Messages &&
		(x.req.Operation == OpGenerate || x.req.Operation == OpCountTokens)
}

// newWarmth begins to plan a request whose conversations are those of a scope.
// There is none for a request that cannot be read.
func (x *exchange) newWarmth(body []byte, scope string) *warmth {
	facts := x.prompt
	if facts == nil {
		var err error
		if facts, err = x.relay.recall.ReadFacts(body); err != nil {
			return nil
		}
	}
	if unanswerable(facts) {
		return nil
	}
	facts.Session = session(x.req.Fields)
	return &warmth{
		body: body, facts: facts, able: x.abilities(), heads: x.relay.memory.Heads(scope, facts.Messages),
		kept: map[continuity.Hash][]byte{}, tried: map[retreat]bool{},
		asksBinding: len(x.missing([]string{betaBinding})) == 0,
		translated:  x.translation != nil,
	}
}

// warm plans the request and gives the body to send, which is the client's own
// if there is nothing to change. Any doubt means the client's own.
func (x *exchange) warm(body []byte) []byte {
	x.named = body
	mode := x.mode()
	if mode == rewrite.ModeOff || !x.plannable() {
		return body
	}
	scope := x.scope()
	if mode == rewrite.ModeObserve {
		// What would have been sent is no history of what was.
		scope = "observed\x00" + scope
	}
	w := x.newWarmth(body, scope)
	if w == nil {
		x.relay.metrics.Unplanned("unreadable")
		return body
	}
	w.observing = mode == rewrite.ModeObserve
	if w.facts.Thread {
		return x.pass(w)
	}
	planned := x.plan(w)
	if planned && w.observing && w.state == nil {
		planned = x.planObserved(w)
	}
	if !planned {
		// Without its memory the request goes out as the client sent it, and can
		// still be repaired if thinking in it was made under another prefix.
		x.relay.metrics.Unplanned("store")
		w.known, w.plan, w.blind = new(lineage.Known), nil, true
		w.begin(continuity.BytesLost)
	}
	x.rewritten(w)
	x.ask(w)
	edited, err := w.edited()
	if err != nil {
		w.begin(continuity.BytesLost)
		edited, w.asked, w.marked = body, false, false
	}
	x.warmth = w
	if w.observing {
		return body
	}
	w.betas = x.missing(w.needs(x.settings.EarlyBetas))
	return edited
}

// pass plans a request whose history the provider keeps: it goes out as it came.
// What stands in that history may be ours, and needs its betas.
func (x *exchange) pass(w *warmth) []byte {
	w.known, w.passing, w.unmarked = new(lineage.Known), true, true
	w.begin(continuity.None)
	w.betas = x.missing(w.needs(true))
	x.warmth = w
	return w.body
}

// unanswerable reports a request that demands a call of a tool which it does not
// have. The provider says so, as long as it is not given what was there before.
func unanswerable(facts *continuity.Facts) bool {
	return facts.Demands && !slices.ContainsFunc(facts.Tools, func(t continuity.Tool) bool {
		return facts.Forced == "" || t.Name == facts.Forced
	})
}

// count counts what was done in the end for a request that the provider has
// accepted, and was not done before, and the steps back that were of use. A
// request that only counts tokens does nothing that lasts.
func (x *exchange) count() {
	w := x.warmth
	if w == nil {
		return
	}
	for _, why := range retreats {
		if w.tried[why] {
			x.relay.metrics.Retreated(string(why))
		}
	}
	if x.req.Operation != OpGenerate || w.passing {
		return
	}
	plan, edited := w.plan, x.relay.metrics.Edited
	if w.observing {
		edited = x.relay.metrics.Observed
	} else if plan.Epoch != continuity.None {
		x.relay.metrics.Epoch(string(plan.Epoch))
	}
	if plan.Tools != nil {
		edited("frozen_tools")
	}
	if plan.Sections != nil {
		edited("frozen_system")
	}
	if plan.Again != nil {
		edited("echo")
	}
	if plan.Level != "" {
		edited("effort")
	}
	if w.marked {
		edited("mark")
	}
	if plan.Said == nil {
		return
	}
	for kind, n := range map[string]int{
		"directive_text": len(plan.Said.Texts), "tool_removal": len(plan.Said.Remove),
		"tool_addition": len(plan.Said.Add), "tool_definition": len(plan.Said.Define),
	} {
		for range n {
			edited(kind)
		}
	}
}

// abilities are those of the model less what it has been seen to refuse.
func (x *exchange) abilities() continuity.Abilities {
	able := x.target.Provider.Abilities(x.target.Model)
	able.Keep = x.settings.Echoes
	able.Automatic = able.Automatic && x.settings.Marks && x.req.Operation == OpGenerate
	return x.relay.refusals.without(x.target.Provider.Name, x.target.Model, able, x.record.Arrived)
}

// board waits for a request with the same cold prefix, if there is one.
func (x *exchange) board() boarded {
	w := x.warmth
	if w == nil || w.observing || w.passing || x.settings.ColdWait <= 0 || x.req.Operation != OpGenerate {
		return boarded{}
	}
	b, waited := x.relay.flights.board(x.ctx, prefixes(w.heads, w.facts), x.settings.ColdWait)
	if waited {
		x.relay.metrics.ColdWaited()
	}
	return b
}

// plan finds the conversation and plans its next request. It returns false if
// the store does not answer.
func (x *exchange) plan(w *warmth) bool {
	w.known = new(lineage.Known)
	if !answered(w.facts.Messages) {
		// A first request is always the beginning of a conversation of its own.
		w.begin(continuity.Fresh)
		return true
	}
	w.known = x.relay.memory.Find(w.heads, w.seals()...)
	read := w.reader(x.ctx, x.relay.memory)
	choice := continuity.Choice{Facts: w.facts, Read: read}
	var state *continuity.State
	for state == nil {
		level, ok, err := w.known.Next(x.ctx)
		if err != nil {
			return false
		}
		if !ok {
			break
		}
		if state = choice.Choose(level.States, level.Sealed); state != nil {
			w.known.Sent, w.left = level.Sent, choice.Left
		} else if len(level.States) > 0 {
			w.stranger = true
		}
	}
	if state == nil {
		w.begin(continuity.Fresh)
		return true
	}
	read.Made = w.made(x.ctx, x.relay.memory, state.Sent)
	w.state = state
	w.plan = continuity.Continue(state, w.facts, w.able, read)
	return w.fetch(x.ctx, x.relay.memory)
}

// begin plans the request as the client sent it.
func (w *warmth) begin(why continuity.Reason) {
	var before *continuity.State
	name := ""
	if w.plan != nil {
		before, name = w.plan.Next, w.plan.Next.Conversation
	} else {
		name = w.conversationName()
	}
	w.plan = continuity.Begin(name, before, why, w.facts, w.able)
}

// conversationName is the same for the same request, so that one that is sent
// again, here or to another gateway, begins no other conversation.
func (w *warmth) conversationName() string {
	digest := sha256.New()
	last := w.heads[len(w.heads)-1]
	digest.Write(last[:])
	for i := range w.facts.Tools {
		digest.Write(w.facts.Tools[i].Exact[:])
	}
	for i := range w.facts.Sections {
		digest.Write(w.facts.Sections[i].Exact[:])
	}
	return "conv_" + hex.EncodeToString(digest.Sum(nil)[:8])
}

func answered(messages []continuity.Message) bool {
	for i := range messages {
		if messages[i].Role == continuity.Assistant {
			return true
		}
	}
	return false
}

// maxSeals bounds how many of the newest replies in a request are looked up by
// what seals them, and how much of a new reply is remembered so.
const maxSeals = 4

// seals are the newest replies of the request with what stands before them.
func (w *warmth) seals() []lineage.Sealed {
	var sealed []lineage.Sealed
	for i, m := range slices.Backward(w.facts.Messages) {
		if m.Seal.Len() > 0 && len(sealed) < maxSeals {
			sealed = append(sealed, lineage.Seal(w.heads[i], i, splice.Text(w.body[m.Seal.Start:m.Seal.End])))
		}
	}
	slices.Reverse(sealed)
	return sealed
}

// reader gives the plan what it asks for; what was kept is fetched when it is
// needed first.
func (w *warmth) reader(ctx context.Context, memory *lineage.Lineage) continuity.Reader {
	return continuity.Reader{
		Restore: w.able.Keep && w.able.Text,
		Now:     func(text rewrite.Span) string { return splice.Text(w.body[text.Start:text.End]) },
		Kept: func(hash continuity.Hash) (string, bool) {
			element, ok := w.kept[hash]
			if !ok {
				kept, err := memory.Kept(ctx, hash)
				if err != nil || kept[hash] == nil {
					return "", false
				}
				element = kept[hash]
				w.kept[hash] = element
			}
			return anthropic.SectionText(element), true
		},
		Render: func(d *continuity.Directive) []byte {
			rendered := anthropic.Directive{Texts: d.Texts, Remove: d.Remove, Add: d.Add, Effort: d.Effort}
			for _, span := range d.Define {
				rendered.Define = append(rendered.Define, anthropic.StripMark(w.body[span.Start:span.End]))
			}
			return anthropic.Render(rendered)
		},
	}
}

// fetch gets the kept bytes that the plan sends. It returns false if the store
// does not answer; bytes that are lost begin an epoch.
func (w *warmth) fetch(ctx context.Context, memory *lineage.Lineage) bool {
	var missing []continuity.Hash
	for _, pieces := range [][]continuity.Piece{w.plan.Tools, w.plan.Sections} {
		for _, piece := range pieces {
			if !piece.FromRequest() && w.kept[piece.Kept] == nil {
				missing = append(missing, piece.Kept)
			}
		}
	}
	for _, again := range w.plan.Again {
		if w.kept[again.Kept] == nil {
			missing = append(missing, again.Kept)
		}
	}
	if len(missing) == 0 {
		return true
	}
	kept, err := memory.Kept(ctx, missing...)
	if err != nil {
		return false
	}
	for _, hash := range missing {
		if kept[hash] == nil {
			w.begin(continuity.BytesLost)
			return true
		}
		w.kept[hash] = kept[hash]
	}
	return true
}

// edited is the body with the plan's edits.
func (w *warmth) edited() ([]byte, error) {
	edits := anthropic.Edits{Inserts: w.plan.Inserts, Drop: w.plan.Drop, Effort: w.plan.Effort, Replace: w.again()}
	if w.asked {
		edits.Diagnostics = anthropic.Diagnostics(w.previous)
	}
	if w.mark(&edits); w.plan.Untouched() && !w.marked && !w.asked {
		return w.body, nil
	}
	w.lists(&edits)
	body, err := anthropic.Apply(nil, w.body, w.facts, &edits)
	if w.stripped = errors.Is(err, anthropic.ErrBinding); w.stripped {
		edits.Drop = false
		if edits.Replace, err = w.thoughtless(edits.Replace); err == nil {
			body, err = anthropic.Apply(nil, w.body, w.facts, &edits)
		}
	}
	return body, err
}

// lists are the tools and the system prompt that the plan sends instead of the
// client's own.
func (w *warmth) lists(edits *anthropic.Edits) {
	if w.plan.Tools != nil {
		own, marks := make([]rewrite.Span, len(w.facts.Tools)), make([]rewrite.Span, len(w.facts.Tools))
		for i := range w.facts.Tools {
			own[i], marks[i] = w.facts.Tools[i].Span, w.facts.Tools[i].Mark
		}
		edits.Tools = w.elements(w.plan.Tools, own, marks)
	}
	if w.plan.Sections != nil {
		own, marks := make([]rewrite.Span, len(w.facts.Sections)), make([]rewrite.Span, len(w.facts.Sections))
		for i := range w.facts.Sections {
			own[i], marks[i] = w.facts.Sections[i].Span, w.facts.Sections[i].Mark
		}
		edits.System = w.elements(w.plan.Sections, own, marks)
		if len(edits.System) == 1 && edits.System[0][0] == '"' {
			edits.Text, edits.System = edits.System[0], nil
		}
	}
}

// remember notes what the request comes to. What the provider refused has never
// been sent.
func (x *exchange) remember() {
	w := x.warmth
	if w == nil {
		return
	}
	if x.req.Operation != OpGenerate || w.passing {
		return
	}
	if w.blind {
		x.note(w, nil)
		return
	}
	keep := make(map[continuity.Hash][]byte, len(w.plan.Keep))
	for _, k := range w.plan.Keep {
		if k.Span.Len() == 0 {
			keep[k.Hash] = w.kept[k.Hash]
			continue
		}
		keep[k.Hash] = anthropic.StripMark(w.body[k.Span.Start:k.Span.End])
	}
	w.saved = x.note(w, keep)
}

// unsaved is why a conversation could not be remembered.
func unsaved(err error) string {
	if errors.Is(err, cache.ErrTooLarge) {
		return "too_large"
	}
	return "store"
}

// told are the header lines that tell the client what was done with its request.
func (x *exchange) told() []upstream.Field {
	w := x.warmth
	if w == nil {
		return x.names()
	}
	var fields []upstream.Field
	if w.plan.Drop && !w.observing {
		fields = append(fields, upstream.Field{Name: []byte("warmpath-repaired"), Value: []byte("drop_block")})
	}
	if w.observing {
		fields = append(fields, upstream.Field{Name: []byte(modeField), Value: []byte(rewrite.ModeObserve.String())})
	}
	if w.passing {
		return append(fields, x.names()...)
	}
	edits := len(w.plan.Inserts)
	for _, edited := range []bool{w.plan.Tools != nil, w.plan.Sections != nil, w.plan.Again != nil} {
		if edited {
			edits++
		}
	}
	return append(fields,
		upstream.Field{Name: []byte(conversationField), Value: []byte(cmp.Or(x.record.Conversation, w.plan.Next.Conversation))},
		upstream.Field{Name: []byte("warmpath-epoch"), Value: strconv.AppendInt(nil, int64(w.plan.Next.Epoch), 10)},
		upstream.Field{Name: []byte("warmpath-edits"), Value: strconv.AppendInt(nil, int64(edits), 10)},
	)
}
