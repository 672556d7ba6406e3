package console

import (
	"cmp"
	"html/template"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"warmpath/cache/eventlog"
	"warmpath/gateway/console/markup"
	"warmpath/rewrite/transcript"
	"warmpath/rewrite/view"
)

// conversationView is the page of one conversation.
type conversationView struct {
	*snapshot
	ID     string
	Thread *thread
	Talk   *talk
}

// talk is what people are to see of a conversation.
type talk struct {
	// Off says that no log of conversations is kept, and Unknown that this one is not in it.
	Off, Unknown bool
	Says         []says
	// Earlier is how many events before these there are.
	Earlier int64
}

// says is something that somebody has said, or the beginning of a turn.
type says struct {
	Seq    int64
	Turn   int64
	Who    string // user, model, tool; empty for the beginning of a turn
	Label  string
	Time   time.Time
	Blocks []saidBlock
	Failed bool
}

// saidBlock is a piece of it: a text as it is, or as HTML.
type saidBlock struct {
	Text string
	HTML template.HTML
	Note string
}

// What is shown of a conversation at most: events, bytes of them read, and bytes of one
// text.
const (
	maxTalk      = 200
	maxTalkBytes = 4 << 20
	maxTalkText  = 40_000
)

// conversation answers with the page of one.
func (s *Server) conversation(ctx *fasthttp.RequestCtx) {
	snap, err := s.look()
	if err != nil {
		text(ctx, fasthttp.StatusInternalServerError, "the metrics could not be gathered")
		return
	}
	id := string(ctx.QueryArgs().Peek("id"))
	p := s.conversationPage(snap, id)
	if p == nil {
		p = &page{
			Title: "warmpath: no such conversation", Kind: "lost", snapshot: snap, Parts: []string{"lost"}, Content: id,
		}
		ctx.SetStatusCode(fasthttp.StatusNotFound)
	}
	p.Cards, p.Login = cards(s.openPrompts()), s.loggedIn(ctx)
	s.show(ctx, "page", p)
}

// conversationPage is nil where nothing is known of the conversation.
func (s *Server) conversationPage(snap *snapshot, id string) *page {
	c := &conversationView{snapshot: snap, ID: id, Thread: threadBy(s.config.Requests(), id, maxPageTurns), Talk: s.talk(id)}
	if c.Thread == nil && len(c.Talk.Says) == 0 {
		return nil
	}
	return &page{
		Title: "warmpath: " + cmp.Or(id, "requests of no conversation"), Kind: "conversation", Query: liveQuery(id),
		snapshot: snap, Parts: conversationParts, Content: c,
	}
}

// talk reads the newest events of a conversation as people are to see them.
func (s *Server) talk(id string) *talk {
	log := s.config.Conversations
	if log == nil {
		return &talk{Off: true}
	}
	summary, ok := log.Summary(id)
	if !ok {
		return &talk{Unknown: true}
	}
	after := max(summary.First-1, summary.Last-maxTalk)
	events, _, err := log.Read(id, after, maxTalk, maxTalkBytes)
	if err != nil {
		return &talk{Unknown: true}
	}
	return &talk{Says: told(events), Earlier: after - summary.First + 1}
}

// told is the view for users, in words.
func told(events []eventlog.Event) (list []says) {
	raw := make([][]byte, len(events))
	for i := range events {
		raw[i] = events[i].Bytes
	}
	users := view.User(raw, false)
	for i := range users.Len() {
		_, _, text := users.Event(i)
		e, err := transcript.Parse([]byte(text))
		if err != nil {
			continue // the log has written it, but a version may come that this one cannot read
		}
		s := says{Seq: e.Seq, Turn: e.Turn, Time: e.Time, Failed: e.Failed}
		switch e.Type {
		case transcript.TurnStart:
			s.Label = e.Model
		case transcript.ChatRequest:
			s.Who, s.Label = "user", cmp.Or(e.Role, "user")
		case transcript.ChatResponse:
			s.Who, s.Label = "model", "model"
		default:
			s.Who, s.Label = "tool", cmp.Or(e.Name, "tool")
		}
		for j := range e.Content {
			s.Blocks = append(s.Blocks, said(&e.Content[j], e.Type == transcript.ChatResponse && e.Kind == transcript.Message))
		}
		list = append(list, s)
	}
	return list
}

// said is a block as it is shown. What the model has written is Markdown, and of the
// others what says so.
func said(b *transcript.Block, markdown bool) (s saidBlock) {
	switch b.Type {
	case "text", "summary", "refusal":
		text := b.Text
		if len(text) > maxTalkText {
			cut := maxTalkText
			for !utf8.RuneStart(text[cut]) {
				cut--
			}
			s.Note = counted(int64(len(text)-cut), "further byte")
			text = text[:cut]
		}
		if markdown || strings.HasPrefix(b.MIME, "text/markdown") {
			s.HTML = markup.HTML(text)
		} else {
			s.Text = text
		}
	default:
		s.Note = strings.Join(strings.Fields(strings.Join([]string{b.Type, b.Name, b.MIME, b.URL}, " ")), " ")
	}
	if b.Omitted > 0 {
		s.Note = counted(int64(b.Omitted), "byte") + " not kept"
	}
	return s
}
