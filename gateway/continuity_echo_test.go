package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// noticed is a store that remembers all that was ever written to it.
type noticed struct {
	cache.Store
	mu      sync.Mutex
	written strings.Builder
}

func (s *noticed) Set(ctx context.Context, entries ...cache.Entry) error {
	for _, e := range entries {
		s.notice(e)
	}
	return s.Store.Set(ctx, entries...)
}

func (s *noticed) CompareAndSwap(ctx context.Context, old []byte, e cache.Entry) (bool, error) {
	s.notice(e)
	return s.Store.CompareAndSwap(ctx, old, e)
}

func (s *noticed) notice(e cache.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written.WriteString(e.Key)
	s.written.Write(e.Value)
}

// TestWhatIsKeptOfMessages plays an agent that spells the calls of its past
// otherwise, with a word in each place that a message can hold: what goes out,
// and what is written to the store, by what the operator allows.
func TestWhatIsKeptOfMessages(t *testing.T) {
	t.Parallel()
	const (
		made      = `{"c":1.0,"b":"in a call","a":"<é>"}`
		plain     = `{"path":"in a plain call"}`
		theWords  = "in the user's words"
		theResult = "done" // what rovers answer
		theNote   = "It is turn"
	)
	for name, c := range map[string]struct {
		allowed, stream bool
	}{
		"allowed": {true, false}, "allowed, in a stream": {true, true}, "not allowed": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, origin := simulated(t)
			store := &noticed{Store: cache.NewMemory(16 << 20)}
			_, base, _ := startWith(t, origin, gateway.Options{Store: store}, func(cfg *config.Config) {
				cfg.Quiet, cfg.Continuity.Echoes = true, c.allowed
			})
			r := newRover(0, "key", base)
			r.again.respells, r.stream = true, c.stream
			for turn := range 4 {
				r.turn++
				r.again.reminds, r.again.forgets = turn == 0, turn > 1
				words := fmt.Sprintf("%s. DO[call alpha %s; call beta %s; then; say Said %d.]", theWords, made, plain, turn)
				r.history = append(r.history, object{"role": "user", "content": []any{textBlock(words)}})
				r.remind()
				for goesOn := true; goesOn; {
					status, content, message := r.post(t, "/v1/messages", r.body())
					if status != 200 {
						t.Fatalf("turn %d: %d %s", turn, status, message)
					}
					goesOn = r.hear(content)
				}
			}
			sent := lastRecord(core).Body
			if got := strings.Count(sent, `"input":`+made); c.allowed != (got == 4) {
				t.Errorf("%d of 4 calls go out as they were made: %s", got, short(sent))
			}
			if got := strings.Contains(sent, theNote); c.allowed != got {
				t.Errorf("dropped reminders go out: %v", got)
			}
			store.mu.Lock()
			defer store.mu.Unlock()
			written := store.written.String()
			for word, want := range map[string]bool{"in a call": c.allowed, theNote: c.allowed, "Said 3.": false} {
				if got := strings.Contains(written, word); got != want {
					t.Errorf("%q is in the store: %v", word, got)
				}
			}
			if !c.allowed && (strings.Contains(written, theWords) || strings.Contains(written, theResult) || strings.Contains(written, "in a plain call")) {
				t.Error("a message is in the store")
			}
		})
	}
}
