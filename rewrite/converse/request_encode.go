package converse

import (
	"fmt"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncodeRequest writes a conversation as the body of a request to a provider.
// The model, and whether it streams, belong into the path. The same conversation
// always gives the same bytes. What cannot be said is noted in losses; the error,
// a *rewrite.Failure, is of a conversation that would not be the same without it.
func EncodeRequest(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
	if c.Previous != "" {
		return nil, refuse("previous response", "%q is kept by another provider; send the whole conversation", c.Previous)
	}
	rw := requestWriter{c: c, provider: provider, losses: losses, family: familyOf(c.Model), names: map[string]bool{}, declared: map[string]bool{}}
	rw.skip = rw.countMarks() - maxMarks
	opening, turns := c.LayOut()
	if len(turns) == 0 {
		return nil, refuse("messages", "there is nothing to answer; send a message")
	}
	w := &rw.w
	w.Grow(c.Volume())
	w.Open('{')
	rw.settings()
	// The order of the prompt, in which marks are counted.
	rw.tools()
	rw.system(opening)
	turns = rw.turns(turns)
	w.Name("messages")
	w.Open('[')
	for i := range turns {
		rw.message(&turns[i], i == len(turns)-1)
	}
	w.Close(']')
	w.Close('}')
	return w.Bytes(), nil
}

// refuse is the failure of a conversation that cannot be said.
func refuse(what, format string, values ...any) *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: what + ": " + fmt.Sprintf(format, values...)}
}

// requestWriter writes one request.
type requestWriter struct {
	w        splice.Writer
	c        *rewrite.Conversation
	provider string
	losses   *rewrite.Losses
	family   family
	// skip is how many cache marks are still too many, and short says that one of
	// the shorter lifetime was written, behind which no longer one may stand.
	skip  int
	short bool
	// sealable says that a mark may stand behind what was written last.
	sealable bool
	// said is what stands in the message under way.
	said saying
	// names are those of the documents so far, each of which has its own, and
	// declared those of the tools.
	names, declared map[string]bool
}

// saying is what of a message decides whether it needs more.
type saying struct{ text, document bool }

// lose notes what is not said.
func (rw *requestWriter) lose(path, why string) { rw.losses.Add(path, why) }

// native reports whether a payload is written in place of what it stands for.
func (rw *requestWriter) native(p *rewrite.Payload) bool { return p.For(rw.provider, rewrite.Converse) }

// list writes a member that is a list, none if nothing is in it.
func (rw *requestWriter) list(name string, write func()) {
	w := &rw.w
	size := w.Size()
	w.Name(name)
	w.Open('[')
	empty := w.Size()
	write()
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close(']')
}

// object writes a member that is an object, none if nothing is in it.
func (rw *requestWriter) object(name string, write func()) {
	w := &rw.w
	size := w.Size()
	w.Name(name)
	w.Open('{')
	empty := w.Size()
	write()
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close('}')
}

// system writes the standing instruction.
func (rw *requestWriter) system(opening []rewrite.Entry) {
	rw.list("system", func() {
		rw.sealable = false
		for i := range rw.c.System {
			rw.systemPart("system."+strconv.Itoa(i), &rw.c.System[i])
		}
		for _, e := range opening {
			for i := range e.Item.Parts {
				rw.systemPart(e.Path+".parts."+strconv.Itoa(i), &e.Item.Parts[i])
			}
		}
	})
}

func (rw *requestWriter) systemPart(path string, part *rewrite.Part) {
	rw.part(path, part, rewrite.RoleSystem)
	rw.mark(part.Mark)
}
