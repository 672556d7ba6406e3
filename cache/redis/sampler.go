package redis

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// sampleEvery is the time between two lines of the client library: it has one
// for each connection that fails, and those come by the thousand.
const sampleEvery = 10 * time.Second

// sampler is the client library's logger.
type sampler struct {
	log *slog.Logger

	mu      sync.Mutex
	next    time.Time
	dropped int
}

func newSampler(log *slog.Logger) *sampler {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &sampler{log: log}
}

// Printf is what the library calls.
func (s *sampler) Printf(ctx context.Context, format string, args ...any) {
	s.mu.Lock()
	now := time.Now()
	if now.Before(s.next) {
		s.dropped++
		s.mu.Unlock()
		return
	}
	dropped := s.dropped
	s.next, s.dropped = now.Add(sampleEvery), 0
	s.mu.Unlock()
	s.log.WarnContext(ctx, "the redis client reports", "message", fmt.Sprintf(format, args...), "dropped", dropped)
}
