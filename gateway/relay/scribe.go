package relay

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"warmpath/cache/eventlog"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/transcript"
)

// scribe writes down what happens in one exchange, in the log of conversations. That
// it cannot is counted, and is no matter of the request's. Nil writes nothing. Its
// methods may be called at the same time: tools that the gateway runs report to
// call, result, asked and answered while the reply is read.
type scribe struct {
	log     *eventlog.Log
	metrics *metrics.Metrics
	id      string
	// secrets are the keys that were sent with the request, which are in no event.
	secrets    [][]byte
	structured bool // the reply is to have a form

	mu   sync.Mutex
	turn int64
	// line follows the history, up to the end of the reply.
	line transcript.Line
	// step is how many calls of providers have been made, the one under way included.
	step int
	// provider is the one that is asked, and decoder reads its reply where nobody
	// else does; twoBlocks says that it tells in two blocks of an activity.
	provider  string
	vendor    *codec
	decoder   streamDecoder
	twoBlocks bool
	// ran says that the gateway has run a tool, for which it may speak in the reply.
	ran     bool
	reading reading
	// record is the exchange's, until it is over.
	record *Record
	over   bool
}

// entry is an event with what its conversation is found by.
type entry struct {
	event        transcript.Event
	items, heads []transcript.Mark
}

// transcribe begins to write down the exchange, if the log is on for its route and the
// request can be read.
func (x *exchange) transcribe() {
	log := x.settings.Transcripts
	if log == nil || x.req.Operation != OpGenerate || x.whole == nil || codecs[x.req.Dialect] == nil ||
		!x.settings.Catalog.Route(x.facts.Model).Events {
		return
	}
	c, err := codecs[x.req.Dialect].decodeRequest(x.whole, "")
	if err != nil {
		x.relay.metrics.LogFailed("request")
		return
	}
	c.Stream = x.record.Stream
	s := &scribe{
		log: log, metrics: x.relay.metrics, secrets: x.secrets(), step: 1, record: &x.record,
		structured: c.Format.Kind != "" && c.Format.Kind != "text",
	}
	s.line.Who = x.req.tenant()
	steps := s.line.Steps(c.Items)
	var found naming
	s.id, found = x.nameConversation(s, c, steps)
	x.scribe, x.record.Conversation = s, s.id
	s.begin(x, c, steps, found)
}

// begin writes what is new in the request.
func (s *scribe) begin(x *exchange, c *rewrite.Conversation, steps []transcript.Step, found naming) {
	marks := make([]eventlog.Mark, len(steps))
	for i := range steps {
		marks[i] = eventlog.Mark(steps[i].Mark)
	}
	from := 0
	if c.Previous == "" { // else all that it holds is new
		from = known(s.log.Known(s.id, marks...), steps)
	}
	start := transcript.Event{
		Type: transcript.TurnStart, Dialect: x.req.Dialect.String(), Model: shownName(x.facts.Model), Stream: c.Stream, Items: len(c.Items),
	}
	entries := []entry{{event: start, items: found.items, heads: found.heads}}
	config, mark := s.config(c)
	if len(config.Content)+len(config.Tools) > 0 && s.log.Known(s.id, eventlog.Mark(mark))[0] == 0 {
		entries = append(entries, entry{event: config, items: []transcript.Mark{mark}})
	}
	for _, step := range steps[from:] {
		items := []transcript.Mark{step.Mark}
		for i := step.From; i < step.To; i++ {
			if event, ok := transcript.Of(apartFor(&c.Items[i]), transcript.FromRequest, false); ok {
				entries = append(entries, entry{event: event, items: items})
				items = nil
				entries[0].event.New++
			}
		}
		entries[0].items = append(entries[0].items, items...)
	}
	s.turn = s.log.Begin(s.id)
	s.write(entries...)
}

// apartFor is an item with the blocks that a client has packed into its texts, if they
// are not all for everybody.
func apartFor(i *rewrite.Item) *rewrite.Item {
	if i.Kind != rewrite.ItemResult {
		return i
	}
	apart := *i
	var failed bool
	apart.Parts, failed = audience.Unpack(i.Parts)
	apart.Failed = i.Failed || failed
	return &apart
}

// known is the number of steps that the log has already: all up to the last one that
// it has. What stands before that was changed by the client, if the log has it not.
func known(counts []int, steps []transcript.Step) (n int) {
	seen := map[transcript.Mark]int{}
	for i := range steps {
		if seen[steps[i].Mark]++; seen[steps[i].Mark] <= counts[i] {
			n = i + 1
		}
	}
	return n
}

// config is what a request says besides its history.
func (s *scribe) config(c *rewrite.Conversation) (transcript.Event, transcript.Mark) {
	e := transcript.Event{Type: transcript.Config, Source: transcript.FromRequest, Content: transcript.Blocks(c.System)}
	said := ""
	for i := range c.System {
		said += c.System[i].Text + "\x00"
	}
	for i := range c.Tools {
		e.Tools = append(e.Tools, c.Tools[i].Name)
		said += "\x00" + c.Tools[i].Name
	}
	return e, s.line.Named("config", said)
}

// secrets are the keys that a request is sent with, the client's and the gateway's.
func (x *exchange) secrets() (all [][]byte) {
	add := func(key []byte) {
		const shortest = 8 // than which no key is, and many a word
		if len(key) >= shortest {
			all = append(all, bytes.Clone(key))
		}
	}
	for _, field := range x.req.Fields {
		if field.Is("warmpath-key") || slices.ContainsFunc(credentials, field.Is) {
			_, token, spaced := bytes.Cut(field.Value, []byte(" "))
			if !spaced {
				token = field.Value
			}
			add(bytes.TrimSpace(token))
		}
	}
	add(queryKey(x.req.Query))
	if p := x.target.Provider; p != nil {
		for _, key := range []string{p.Key.Reveal(), p.Signing.AccessKey.Reveal(), p.Signing.SecretKey.Reveal(), p.Signing.SessionToken.Reveal()} {
			add([]byte(key))
		}
	}
	return all
}

// write appends events to the log, with the lock held or before anybody else knows of
// the scribe.
func (s *scribe) write(entries ...entry) {
	if len(entries) == 0 {
		return
	}
	now := time.Now()
	all := make([]eventlog.Entry, len(entries))
	for i := range entries {
		e := &entries[i].event
		e.Turn, e.Time = s.turn, now
		all[i] = eventlog.Entry{Items: stored(entries[i].items), Heads: stored(entries[i].heads), Event: func(dst []byte, seq int64) []byte {
			e.Seq = seq
			return s.clean(dst, e)
		}}
	}
	if err := s.log.Append(s.id, s.turn, all...); err != nil {
		s.metrics.LogFailed("write")
		return
	}
	s.metrics.Logged(len(entries))
}

// clean appends an event without the keys that came with the request.
func (s *scribe) clean(dst []byte, e *transcript.Event) []byte {
	at := len(dst)
	dst = transcript.Append(dst, e)
	for _, secret := range s.secrets {
		if bytes.Contains(dst[at:], secret) {
			dst = append(dst[:at], bytes.ReplaceAll(dst[at:], secret, []byte("***"))...)
		}
	}
	return dst
}

func stored(marks []transcript.Mark) []eventlog.Mark {
	if len(marks) == 0 {
		return nil
	}
	all := make([]eventlog.Mark, len(marks))
	for i := range marks {
		all[i] = eventlog.Mark(marks[i])
	}
	return all
}
