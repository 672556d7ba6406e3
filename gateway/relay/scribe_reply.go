package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"warmpath/gateway/prompt"
	"warmpath/rewrite"
	"warmpath/rewrite/sse"
	"warmpath/rewrite/transcript"
)

// reading is what a scribe has read of a reply.
type reading struct {
	items map[int]*rewrite.Fold
	order []int // of those that are open
	// hosted are the activities that were said to have begun.
	hosted map[string]bool
	name   string // of the reply, as the client is told
	// length is how long a whole reply is, or -1; told says that it was read.
	length int64
	told   bool
	// fault is why it failed, in words, and refusal the beginning of a refusal.
	fault   string
	refusal []byte
	ended   bool
}

// mostRefusal is how much is read of a reply that is an error, in bytes.
const mostRefusal = 16 << 10

// listens begins to read a reply. Its events are told by take where it is translated,
// and read here where it passes as it is.
func (s *scribe) listens(x *exchange, length int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.provider, s.vendor = x.target.Provider.Name, codecs[x.speaks]
	s.twoBlocks = x.speaks == rewrite.Messages
	s.reading = reading{items: map[int]*rewrite.Fold{}, hosted: map[string]bool{}, length: length}
	if s.decoder = nil; x.translation == nil && s.vendor != nil {
		s.decoder = s.vendor.decoder(s.provider)
	}
	if t := x.translation; t != nil {
		if t.scribe = s; t.kept.keeps() {
			s.reading.name = t.kept.name
		}
	}
}

// event reads an event of a stream that passes.
func (s *scribe) event(e sse.Event) {
	if s != nil && s.decoder != nil {
		s.decoder.Event(e.Name, e.Data, s.take)
	}
}

// due reports that a whole reply has come, which nobody has read yet.
func (s *scribe) due(length int) bool {
	return s != nil && s.decoder != nil && !s.reading.told && int64(length) == s.reading.length
}

// whole reads a reply that is one document.
func (s *scribe) whole(reply []byte) {
	if s == nil || s.decoder == nil || s.reading.told {
		return
	}
	s.reading.told = true
	if s.vendor.decodeReply(reply, s.provider, s.take) != nil {
		s.metrics.LogFailed("reply")
	}
}

// refused takes a piece of a reply that is an error.
func (s *scribe) refused(chunk []byte) {
	if s != nil && len(s.reading.refusal) < mostRefusal {
		s.reading.refusal = append(s.reading.refusal, chunk[:min(len(chunk), mostRefusal-len(s.reading.refusal))]...)
	}
}

// failed takes why the exchange has failed, in words for the client.
func (s *scribe) failed(message string) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reading.fault = message
	}
}

// take takes an event of the reply. What is complete is written at once.
func (s *scribe) take(e *rewrite.Event) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.reading
	switch e.Kind {
	case rewrite.EventBegin:
		r.name = cmp.Or(r.name, e.Reply.ID)
	case rewrite.EventUsage:
	case rewrite.EventError:
		r.fault = e.Fault.Message
	case rewrite.EventEnd:
		s.closes()
		s.usage(true)
	case rewrite.EventItem, rewrite.EventPart, rewrite.EventText, rewrite.EventArguments, rewrite.EventAttribution,
		rewrite.EventPartDone, rewrite.EventDone:
		s.within(e)
	}
}

// within takes an event of an item.
func (s *scribe) within(e *rewrite.Event) {
	r := &s.reading
	fold := r.items[e.Index]
	if e.Kind == rewrite.EventItem {
		fold = new(rewrite.Fold)
		r.items[e.Index], r.order = fold, append(r.order, e.Index)
		if e.Item.Kind == rewrite.ItemHosted && e.Item.Hosted.State == rewrite.HostedStarted && !s.twoBlocks {
			// It may be a while until more is known of it.
			s.begins(e.Item)
		}
	}
	if fold == nil {
		return
	}
	of := *e
	of.Index = 0
	if fold.Add(&of); e.Kind == rewrite.EventDone {
		s.item(&fold.Reply().Items[0])
		delete(r.items, e.Index)
		r.order = slices.DeleteFunc(r.order, func(i int) bool { return i == e.Index })
	}
}

// begins writes that an activity has begun.
func (s *scribe) begins(i *rewrite.Item) {
	head := rewrite.Item{Kind: rewrite.ItemHosted, ID: i.ID, Hosted: rewrite.Hosted{ID: i.Hosted.ID, Name: i.Hosted.Name}}
	event, _ := transcript.Of(&head, transcript.FromReply, false)
	event.Call = s.step
	s.reading.hosted[event.ID] = true
	s.write(entry{event: event})
}

// item writes an item that has come to its end.
func (s *scribe) item(i *rewrite.Item) {
	s.line.Add(i)
	if s.ran && i.Kind == rewrite.ItemMessage && i.Phase == rewrite.Said && i.ID == "" {
		return // what a tool has told the user is written with all else that it gave
	}
	event, ok := transcript.Of(i, transcript.FromReply, s.structured)
	if ok && i.Kind == rewrite.ItemHosted && i.Hosted.State == rewrite.HostedStarted && s.reading.hosted[event.ID] {
		ok = false // that it began was told
	}
	if event.Call = s.step; ok {
		s.write(entry{event: event})
	}
}

// closes writes what was never closed.
func (s *scribe) closes() {
	r := &s.reading
	for _, at := range r.order {
		items := r.items[at].Reply().Items
		s.item(&items[0])
	}
	clear(r.items)
	r.order = nil
}

// usage writes what a call has used. The conversation is found by the reply from then
// on: before the client has its end, it may go on from it at once. Ended says that
// the reply is whole.
func (s *scribe) usage(ended bool) {
	r := s.record
	e := entry{event: transcript.Event{
		Type: transcript.Usage, Source: transcript.FromReply, Call: s.step, ID: shownName(r.Report.ID), Provider: r.Provider, Model: shownName(r.Model),
		Tokens: transcript.Used(&r.Report.Usage), Stop: r.Report.Stop.String(),
	}}
	if mark, said := s.line.Reply(); said {
		e.items, e.heads = []transcript.Mark{mark}, []transcript.Mark{s.line.Head()}
	}
	if ended {
		e.items = append(e.items, s.line.Named("answered", ""))
	}
	if s.reading.name != "" {
		e.heads = append(e.heads, s.line.Named("reply", s.reading.name))
	}
	if s.reading.ended = ended; e.event.Tokens != nil || len(e.heads) > 0 {
		s.write(e)
	}
}

// readRefusal finds the words of a refusal.
func (r *reading) readRefusal() {
	if r.fault == "" && len(r.refusal) > 0 {
		r.fault = readFault(bytes.TrimSpace(r.refusal)).Message
	}
}

// called writes what a call has used that another one follows within the turn.
func (s *scribe) called() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := transcript.Event{
		Type: transcript.Usage, Source: transcript.FromReply, Call: s.step, ID: shownName(s.record.Report.ID), Provider: s.record.Provider,
		Model: shownName(s.record.Model), Tokens: transcript.Used(&s.record.Report.Usage), Stop: s.record.Report.Stop.String(),
	}
	s.write(entry{event: e})
	s.step++
}

// directive writes what the gateway has said in the request that was accepted.
func (s *scribe) directive(w *warmth) {
	if s == nil || w == nil || w.observing || w.plan.Said == nil || len(w.plan.Inserts) == 0 {
		return
	}
	said, after := w.plan.Said, w.plan.Inserts[len(w.plan.Inserts)-1].After
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(entry{event: transcript.Event{
		Type: transcript.Directive, Source: transcript.FromGateway, Texts: said.Texts, Added: said.Add, Removed: said.Remove,
		Defined: len(said.Define), After: &after,
	}})
}

// end writes how the turn has ended.
func (s *scribe) end() {
	if s == nil || s.over {
		return
	}
	if s.decoder != nil && !s.reading.told {
		s.decoder.Close(s.take)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record
	s.over = true
	if s.closes(); !s.reading.ended {
		s.usage(false)
	}
	s.reading.readRefusal()
	var entries []entry
	if r.Reason != rewrite.ReasonNone || s.reading.fault != "" {
		entries = append(entries, entry{event: transcript.Event{
			Type: transcript.Error, Source: transcript.FromGateway, Provider: r.Provider, Model: shownName(r.Model),
			Status: r.Status, Reason: r.Reason.String(), Message: s.reading.fault,
		}})
	}
	outcome := transcript.Failed
	switch {
	case r.Status < 300 && r.Report.Ended && r.Reason == rewrite.ReasonNone:
		outcome = transcript.Completed
	case r.Report.Output || r.Status == http.StatusOK:
		outcome = transcript.Cut
	}
	var unanswered []transcript.Mark
	if !s.reading.ended {
		unanswered = append(unanswered, s.line.Named("unanswered", ""))
	}
	s.write(append(entries, entry{items: unanswered, event: transcript.Event{
		Type: transcript.TurnEnd, Outcome: outcome, Status: r.Status, Stop: r.Report.Stop.String(), Milliseconds: r.Duration.Milliseconds(),
	}})...)
	s.record = nil
}

// call writes a call of a tool that the gateway runs, which the client does not see.
func (s *scribe) call(i *rewrite.Item) { s.tool(i) }

// result writes all that such a tool gave, with its annotations, whoever it is for.
func (s *scribe) result(id, name string, parts []rewrite.Part, failed bool) {
	s.tool(&rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id, Name: name}, Parts: parts, Failed: failed})
}

func (s *scribe) tool(i *rewrite.Item) {
	if s == nil {
		return
	}
	event, ok := transcript.Of(i, transcript.FromReply, false)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.Runner, event.Call = "gateway", s.step; i.Kind == rewrite.ItemResult {
		event.Source, s.ran = transcript.FromGateway, true
	}
	s.write(entry{event: event})
}

// asked writes a question to a person. Data is the question as JSON.
func (s *scribe) asked(id, kind string, data rewrite.JSON) {
	s.inquiry(transcript.Event{Type: transcript.InquiryRequest, ID: id, Kind: kind, Data: json.RawMessage(data)})
}

// answered writes what became of a question. Data is the answer as JSON, and must not
// hold what is secret of it.
func (s *scribe) answered(id, outcome string, data rewrite.JSON) {
	s.inquiry(transcript.Event{Type: transcript.InquiryResponse, ID: id, Outcome: outcome, Data: json.RawMessage(data)})
}

// notify writes that a prompt has opened or closed. What was answered is not told:
// what of it the model gets is in the tool's result.
func (s *scribe) notify(e prompt.Event) {
	view, err := json.Marshal(&e.Prompt)
	switch {
	case err != nil:
		s.metrics.LogFailed("request")
	case e.Closed:
		s.answered(e.Prompt.ID, e.Prompt.State, nil)
	default:
		s.asked(e.Prompt.ID, e.Prompt.Kind, view)
	}
}

func (s *scribe) inquiry(e transcript.Event) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Source, e.Call = transcript.FromGateway, s.step
	s.write(entry{event: e})
}
