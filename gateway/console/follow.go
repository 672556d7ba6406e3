package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/cache/eventlog"
	"warmpath/rewrite/splice"
)

const (
	// beat is the silence after which a follower gets a comment, by which it is found
	// out whether it is still there.
	beat = 15 * time.Second
	// maxFollowers is how many conversations are followed at once.
	maxFollowers = 64
)

// follow answers with the events of a conversation as they happen.
func (s *Server) follow(ctx *fasthttp.RequestCtx, log *eventlog.Log, a *asked, c *eventlog.Summary) {
	if s.followers.Add(1) > maxFollowers {
		s.followers.Add(-1)
		text(ctx, fasthttp.StatusServiceUnavailable, "too many conversations are followed already; close one and try again")
		return
	}
	ctx.SetContentType("text/event-stream")
	ctx.Response.Header.Set("X-Accel-Buffering", "no")
	conn := ctx.Conn()
	// The server's own time-out is for the whole answer; ours are for each write.
	_ = ctx.SetWriteDeadline(time.Now().Add(writeTimeout))
	f := &follower{asked: *a, log: log, ended: s.ended, conn: conn}
	var w splice.Writer
	w.Open('{')
	f.head(&w, c)
	w.Close('}')
	f.frames = appendFrame(nil, 0, "open", w.Bytes())
	ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer s.followers.Add(-1)
		f.run(w)
	})
}

// follower is somebody who follows a conversation.
type follower struct {
	asked
	log    *eventlog.Log
	ended  context.Context //nolint:containedctx // the server's life
	conn   net.Conn
	frames []byte
}

// run writes frames until the follower has left, the conversation is forgotten, or the
// server ends.
func (f *follower) run(w *bufio.Writer) {
	for {
		if len(f.frames) > 0 {
			_ = f.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			_, _ = w.Write(f.frames)
			if w.Flush() != nil {
				return
			}
			f.frames = f.frames[:0]
		}
		waiting, cancel := context.WithTimeout(f.ended, beat)
		err := f.log.Wait(waiting, f.id, f.after)
		cancel()
		switch {
		case err == nil:
			if !f.next() {
				return
			}
		case errors.Is(err, context.DeadlineExceeded):
			f.frames = append(f.frames, ": keepalive\n\n"...)
		default:
			return
		}
	}
}

// next takes the next events; false if they cannot be read.
func (f *follower) next() bool {
	events, _, err := f.log.Read(f.id, f.after, defaultEvents, maxEventBytes)
	if err != nil || len(events) == 0 {
		return false
	}
	shown, err := f.project(events)
	if err != nil {
		return false
	}
	for i := range shown {
		// An event may have several entries; who comes back gets all of them again.
		id := shown[i].Seq
		if i+1 < len(shown) && shown[i+1].Seq == id {
			id = 0
		}
		f.frames = appendFrame(f.frames, id, shown[i].Type, shown[i].JSON)
	}
	f.after = events[len(events)-1].Seq
	return true
}

// appendFrame appends an event of a stream.
func appendFrame(dst []byte, id int64, name string, data []byte) []byte {
	if id > 0 {
		dst = append(strconv.AppendInt(append(dst, "id: "...), id, 10), '\n')
	}
	dst = append(append(append(dst, "event: "...), name...), '\n')
	// Line ends stand between tokens of JSON only.
	for line := range bytes.FieldsFuncSeq(data, func(r rune) bool { return r == '\n' || r == '\r' }) {
		dst = append(append(append(dst, "data: "...), line...), '\n')
	}
	return append(dst, '\n')
}
