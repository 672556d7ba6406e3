package console

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/cache/eventlog"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/transcript"
	"warmpath/rewrite/view"
)

// views are the projections of a conversation by name; the first is the default.
var views = []string{"raw", "user", "portable", "native"}

const conversationsPath = "/api/conversations"

// How many events one answer has, and about how many bytes of them.
const (
	defaultEvents = 500
	maxEvents     = 5000
	maxEventBytes = 8 << 20
)

// conversations answers /api/conversations, what is below it, and why there is
// nothing where no log is kept.
func (s *Server) conversations(ctx *fasthttp.RequestCtx) {
	log := s.config.Conversations
	if log == nil {
		text(ctx, fasthttp.StatusNotFound, "conversations are not kept: the log of conversations is off. Set log.events (--log-events) to memory or disk and start again")
		return
	}
	rest := strings.Trim(strings.TrimPrefix(string(ctx.Path()), conversationsPath), "/")
	id, what, _ := strings.Cut(rest, "/")
	switch {
	case rest == "":
		listConversations(ctx, log)
	case what == "":
		summary, ok := log.Summary(id)
		if !ok {
			unknownConversation(ctx)
			return
		}
		var w splice.Writer
		appendConversation(&w, log, &summary)
		answerJSON(ctx, w.Bytes())
	case what == "events":
		s.events(ctx, log, id)
	default:
		text(ctx, fasthttp.StatusNotFound, "of a conversation there is /api/conversations/{id} and /api/conversations/{id}/events")
	}
}

func unknownConversation(ctx *fasthttp.RequestCtx) {
	text(ctx, fasthttp.StatusNotFound, "the log of conversations has no conversation of this name, or no more; /api/conversations lists those that it has")
}

func answerJSON(ctx *fasthttp.RequestCtx, body []byte) {
	ctx.SetContentType("application/json")
	ctx.SetBody(append(body, '\n'))
}

// listConversations lists them, the newest first.
func listConversations(ctx *fasthttp.RequestCtx, log *eventlog.Log) {
	args := ctx.QueryArgs()
	limit, ok := number(args.Peek("limit"), defaultList, 1, maxList)
	before, id, there := cursor(string(args.Peek("before")))
	if !ok || !there {
		text(ctx, fasthttp.StatusBadRequest, "limit is a number from 1 to "+strconv.Itoa(maxList)+", and before is the next of the page before")
		return
	}
	found := log.List(before, id, int(limit)+1)
	var w splice.Writer
	w.Open('{')
	w.Name("conversations")
	w.Open('[')
	for i := range found[:min(len(found), int(limit))] {
		appendConversation(&w, log, &found[i])
	}
	w.Close(']')
	if w.Name("next"); len(found) > int(limit) {
		last := &found[limit-1]
		w.String(strconv.FormatInt(last.Updated.UnixMilli(), 10) + "_" + last.ID)
	} else {
		w.Literal("null")
	}
	w.Close('}')
	answerJSON(ctx, w.Bytes())
}

// cursor reads where a page ended.
func cursor(text string) (at time.Time, id string, ok bool) {
	if text == "" {
		return at, "", true
	}
	before, id, ok := strings.Cut(text, "_")
	ms, err := strconv.ParseInt(before, 10, 64)
	return time.UnixMilli(ms), id, ok && err == nil && id != ""
}

// number reads a number of a query within bounds.
func number(text []byte, initial, least, most int64) (n int64, ok bool) {
	if len(text) == 0 {
		return initial, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && n >= least && n <= most
}

// appendConversation writes what is known of a conversation, with what its newest
// turn says of itself.
func appendConversation(w *splice.Writer, log *eventlog.Log, c *eventlog.Summary) {
	w.Open('{')
	w.Text("id", c.ID)
	w.Text("started", c.Started.UTC().Format(time.RFC3339Nano))
	w.Text("updated", c.Updated.UTC().Format(time.RFC3339Nano))
	for _, n := range [...]struct {
		name string
		n    int64
	}{{"turns", c.Turns}, {"events", c.Last - c.First + 1}, {"first_seq", c.First}, {"last_seq", c.Last}, {"bytes", c.Bytes}} {
		w.Name(n.name)
		w.Int(n.n)
	}
	if start := lastStart(log, c); start != nil {
		w.Text("dialect", start.Dialect)
		w.Text("model", start.Model)
	}
	w.Close('}')
}

// lookBack is how many of the newest events are searched for the beginning of a turn.
const lookBack = 64

// lastStart is the beginning of the newest turn; nil if that is far back.
func lastStart(log *eventlog.Log, c *eventlog.Summary) *transcript.Event {
	events, _, err := log.Read(c.ID, max(c.First-1, c.Last-lookBack), lookBack, maxEventBytes)
	if err != nil {
		return nil
	}
	for _, event := range slices.Backward(events) {
		if e, err := transcript.Parse(event.Bytes); err == nil && e.Type == transcript.TurnStart {
			return e
		}
	}
	return nil
}

// asked is what of a conversation is asked for.
type asked struct {
	id, view string
	// explicit shows users only what names them.
	explicit bool
	after    int64
	limit    int64
}

// events answers with events of a conversation, or follows them.
func (s *Server) events(ctx *fasthttp.RequestCtx, log *eventlog.Log, id string) {
	args := ctx.QueryArgs()
	a := asked{id: id, view: string(args.Peek("view"))}
	if a.view == "" {
		a.view = views[0]
	}
	if !slices.Contains(views, a.view) {
		text(ctx, fasthttp.StatusBadRequest, "there is no such view; the views are "+strings.Join(views, ", "))
		return
	}
	switch explicit := string(args.Peek("explicit")); {
	case explicit == "" || explicit == "0":
	case explicit == "1" && a.view == "user":
		a.explicit = true
	default:
		text(ctx, fasthttp.StatusBadRequest, "explicit is 0 or 1, and belongs to the view user")
		return
	}
	after := args.Peek("after")
	if last := ctx.Request.Header.Peek("Last-Event-ID"); len(last) > 0 {
		after = last
	}
	var ok, inBounds bool
	a.after, ok = number(after, 0, 0, 1<<62)
	a.limit, inBounds = number(args.Peek("limit"), defaultEvents, 1, maxEvents)
	if !ok || !inBounds {
		text(ctx, fasthttp.StatusBadRequest, "after is the number of an event, and limit a number from 1 to "+strconv.Itoa(maxEvents))
		return
	}
	summary, known := log.Summary(id)
	if !known {
		unknownConversation(ctx)
		return
	}
	if ctx.IsGet() && strings.Contains(string(ctx.Request.Header.Peek("Accept")), "text/event-stream") {
		s.follow(ctx, log, &a, &summary)
		return
	}
	events, more, err := log.Read(id, a.after, int(a.limit), maxEventBytes)
	if err != nil {
		unreadable(ctx, err)
		return
	}
	shown, err := a.project(events)
	if err != nil {
		unreadable(ctx, err)
		return
	}
	answerJSON(ctx, a.page(&summary, events, shown, more))
}

// unreadable says that the log cannot be read, or ends.
func unreadable(ctx *fasthttp.RequestCtx, err error) {
	if errors.Is(err, eventlog.ErrClosed) {
		text(ctx, fasthttp.StatusServiceUnavailable, "the log of conversations is closed: the gateway stops")
		return
	}
	text(ctx, fasthttp.StatusInternalServerError, "the log of conversations cannot be read: "+err.Error())
}

// page is one answer.
func (a *asked) page(c *eventlog.Summary, events []eventlog.Event, shown []view.Shown, more bool) []byte {
	var w splice.Writer
	w.Open('{')
	a.head(&w, c)
	w.Name("events")
	w.Open('[')
	for i := range shown {
		w.Raw(shown[i].JSON)
	}
	w.Close(']')
	if w.Name("next"); more {
		w.Int(events[len(events)-1].Seq)
	} else {
		w.Literal("null")
	}
	w.Close('}')
	return w.Bytes()
}

// head writes what is said of the conversation before its events.
func (a *asked) head(w *splice.Writer, c *eventlog.Summary) {
	w.Text("conversation", a.id)
	w.Text("view", a.view)
	if a.explicit {
		w.Name("explicit")
		w.Bool(true)
	}
	w.Name("first_seq")
	w.Int(c.First)
	w.Name("last_seq")
	w.Int(c.Last)
}

// project gives events as the view has them.
func (a *asked) project(events []eventlog.Event) (shown []view.Shown, err error) {
	raw := make([][]byte, len(events))
	for i := range events {
		raw[i] = events[i].Bytes
	}
	switch a.view {
	case "user":
		users := view.User(raw, a.explicit)
		for i := range users.Len() {
			seq, kind, text := users.Event(i)
			shown = append(shown, view.Shown{Seq: seq, Type: kind, JSON: []byte(text)})
		}
		return shown, nil
	case "portable":
		return view.Portable(raw)
	case "native":
		return view.Native(raw)
	}
	return view.Raw(raw), nil
}
