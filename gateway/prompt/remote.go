package prompt

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// deliver closes a prompt of this gateway with an answer from elsewhere.
func (s *sharing) deliver(id string, sealed []byte) {
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.open[id]; e != nil {
		if a, by, ok := s.open(e, sealed); ok {
			b.finish(e, a, by)
		}
	}
}

// envelope is what stands in a sealed answer.
type envelope struct {
	By      string          `json:"by"`
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
	Turn    bool            `json:"turn,omitempty"`
}

// open reads an answer from elsewhere. It is checked again: whoever can write to the
// board could have written anything.
func (s *sharing) open(e *entry, sealed []byte) (a Answer, by string, ok bool) {
	if slices.Equal(sealed, []byte(nobody)) {
		return a, "", false
	}
	text, err := s.sealer.open(e.ID, sealed)
	if err != nil {
		return a, "", false
	}
	var in envelope
	if json.Unmarshal(text, &in) != nil {
		return a, "", false
	}
	a, err = accepts(e.kind, e.questions, e.Editable, Reply{Action: in.Action, Content: []byte(in.Content), Turn: in.Turn})
	return a, in.By, err == nil
}

// nobody is pinned in place of an answer to what was answered here, or not at all.
const nobody = "-"

// first pins an answer, or nothing, and reports whether it is the first. A board that
// fails is no reason to turn somebody down.
func (s *sharing) first(ctx context.Context, id string, sealed []byte) bool {
	if sealed == nil {
		sealed = []byte(nobody)
	}
	ctx, cancel := context.WithTimeout(ctx, boardTime)
	defer cancel()
	first, err := s.board.Pin(ctx, kindAnswer, id, sealed, answerLife, true)
	if err != nil {
		s.failure(ctx, "pin", err)
		return true
	}
	return first
}

// claim closes a prompt to answers from elsewhere. One that has come before is given.
func (s *sharing) claim(e *entry) (a Answer, by string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), boardTime)
	defer cancel()
	if s.first(ctx, e.ID, nil) {
		return a, "", false
	}
	answers, err := s.board.Pinned(ctx, kindAnswer)
	if err != nil {
		s.failure(ctx, "read", err)
		return a, "", false
	}
	return s.open(e, answers[e.ID])
}

// answer takes a reply to a prompt that waits elsewhere.
func (s *sharing) answer(ctx context.Context, who Who, id string, reply Reply) error {
	if s == nil {
		return ErrUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, boardTime)
	defer cancel()
	r, err := s.find(ctx, id)
	switch {
	case err != nil:
		return err
	case !who.sees(r.Tenant):
		return ErrUnknown
	case r.State != stateOpen && r.By != "":
		return ErrAnswered
	case r.State != stateOpen || !time.Now().Before(r.Expires):
		return ErrGone
	}
	if _, err := accepts(r.kind, r.questions, r.Editable, reply); err != nil {
		return err
	}
	text, err := json.Marshal(envelope{By: who.name(), Action: reply.Action, Content: json.RawMessage(reply.Content), Turn: reply.Turn})
	if err != nil {
		return invalid("the answer is no JSON")
	}
	sealed, err := seal(r.Key, id, text)
	if err != nil {
		return ErrUnknown
	}
	first, err := s.board.Pin(ctx, kindAnswer, id, sealed, answerLife, true)
	switch {
	case err != nil:
		s.failure(ctx, "pin", err)
		return ErrUnreachable
	case !first:
		return s.late(ctx, id)
	}
	s.call(ctx)
	return nil
}

// late is why an answer came too late: after another one, or after the end.
func (s *sharing) late(ctx context.Context, id string) error {
	if r, err := s.find(ctx, id); err == nil && r.State != stateOpen && r.By == "" {
		return ErrGone
	}
	return ErrAnswered
}

// find reads a prompt from the board.
func (s *sharing) find(ctx context.Context, id string) (*record, error) {
	prompts, err := s.board.Pinned(ctx, kindPrompt)
	if err != nil {
		s.failure(ctx, "read", err)
		return nil, ErrUnreachable
	}
	text, ok := prompts[id]
	if !ok {
		return nil, ErrUnknown
	}
	r, err := decodeRecord(text)
	if err != nil {
		return nil, ErrUnknown
	}
	return r, nil
}
