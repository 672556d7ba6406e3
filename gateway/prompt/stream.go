package prompt

import (
	"io"
	"sync"
	"time"
)

// streamBeat is how often a stream says that it is alive: that is also how a client
// is found to be gone.
const streamBeat = 3 * time.Second

// Stream is a lease as the bytes of an event stream. Reading waits for events;
// Close ends the lease, and may be called at any time and more than once.
type Stream struct {
	lease *Lease
	rest  []byte
	done  chan struct{}
	once  sync.Once
}

func newStream(l *Lease) *Stream {
	// A browser that loses the stream comes back after this many milliseconds.
	return &Stream{lease: l, rest: []byte("retry: 1000\n\n"), done: make(chan struct{})}
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		beat := time.NewTimer(streamBeat)
		defer beat.Stop()
		select {
		case <-s.done:
			return 0, io.EOF
		case <-beat.C:
			s.rest = []byte(": \n\n")
		case e, open := <-s.lease.Events:
			if !open {
				return 0, io.EOF
			}
			s.rest = appendEvent(nil, e)
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (s *Stream) Close() error {
	s.once.Do(func() {
		close(s.done)
		s.lease.Close()
	})
	return nil
}
