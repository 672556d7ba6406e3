package console

import (
	"bufio"
	"encoding/json"
	"net"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/prompt"
)

// pulse is how often somebody who looks at a page is told that the stream is alive:
// that is also how those are found who are gone.
const pulse = 3 * time.Second

// live answers a page with a stream of its parts, each as often as it changes and at
// most once a second, beginning with all of them. Whoever looks at it can be asked.
// A page that nobody sees asks for less: quiet is prompts only.
func (s *Server) live(ctx *fasthttp.RequestCtx) {
	if s.followers.Add(1) > maxFollowers {
		s.followers.Add(-1)
		text(ctx, fasthttp.StatusServiceUnavailable, "too many pages and conversations are followed already; close one and try again")
		return
	}
	args := ctx.QueryArgs()
	looks := []scene{{kind: "prompts"}}
	if !args.GetBool("quiet") {
		looks = append(looks, scene{kind: "overview"})
		if args.Has("id") {
			looks[1] = scene{kind: "conversation", id: string(args.Peek("id"))}
		}
	}
	l := &looker{server: s, conn: ctx.Conn()}
	for _, v := range looks {
		l.seen = append(l.seen, seen{board: s.hub.join(s, v)})
	}
	if s.config.Prompts != nil {
		l.lease = s.config.Prompts.Subscribe(prompt.Filter{Who: prompt.Who{Operator: true}})
		l.events = l.lease.Events
	}
	ctx.SetContentType("text/event-stream")
	ctx.Response.Header.Set("X-Accel-Buffering", "no")
	_ = ctx.SetWriteDeadline(time.Now().Add(writeTimeout))
	ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer l.leave()
		l.run(w)
	})
}

// looker is a page that somebody looks at.
type looker struct {
	server *Server
	conn   net.Conn
	seen   []seen
	lease  *prompt.Lease
	events <-chan prompt.Event
}

// seen is what of a board a page has been told.
type seen struct {
	board   *board
	version int64
}

func (l *looker) leave() {
	for i := range l.seen {
		l.server.hub.leave(l.seen[i].board)
	}
	if l.lease != nil {
		l.lease.Close()
	}
	l.server.followers.Add(-1)
}

// run writes what has changed until the page is gone or the server ends. Whoever reads
// slowly misses what is in between, and never what is last.
func (l *looker) run(w *bufio.Writer) {
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	frames := []byte("retry: 1000\n\n")
	for {
		var changed [2]<-chan struct{}
		for i := range l.seen {
			frames, changed[i] = l.seen[i].news(frames)
		}
		if len(frames) > 0 {
			_ = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.Write(frames); err != nil || w.Flush() != nil {
				return
			}
			frames = frames[:0]
		}
		select {
		case <-changed[0]:
		case <-changed[1]:
		case _, open := <-l.events:
			if !open {
				return
			}
			l.server.hub.hurry(l.seen[0].board)
		case <-beat.C:
			frames = append(frames, "event: beat\ndata:\n\n"...)
		case <-l.server.ended.Done():
			return
		}
	}
}

// news appends the parts of the board that have not been told yet, and gives the
// signal for further ones.
func (s *seen) news(frames []byte) ([]byte, <-chan struct{}) {
	b := s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.parts {
		if p := &b.parts[i]; p.version > s.version {
			data, err := json.Marshal(struct {
				Part string `json:"part"`
				HTML string `json:"html"`
			}{p.name, p.html})
			if err != nil {
				panic("BUG: a part that is no JSON: " + err.Error())
			}
			frames = appendFrame(frames, 0, "part", data)
		}
	}
	s.version = b.version
	return frames, b.changed
}

// paint draws the parts of a view.
func (s *Server) paint(v scene) []drawn {
	var p *page
	names := []string{"prompts"}
	switch v.kind {
	case "prompts":
		p = &page{Cards: cards(s.openPrompts())}
	case "conversation":
		snap, err := s.look()
		if err != nil {
			return nil
		}
		if p = s.conversationPage(snap, v.id); p == nil {
			return nil
		}
		names = append([]string{"head"}, p.Parts...)
	default:
		snap, err := s.look()
		if err != nil {
			return nil
		}
		p = s.overviewPage(snap)
		names = append([]string{"head"}, p.Parts...)
	}
	var all []drawn
	for _, name := range names {
		if text, err := draw(name, p); err == nil {
			all = append(all, drawn{name: name, html: string(text)})
		}
	}
	return all
}

// liveQuery is what a page asks the stream for.
func liveQuery(id string) string { return "?" + url.Values{"id": {id}}.Encode() }
