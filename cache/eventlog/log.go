package eventlog

import (
	"errors"
	"sync"
	"time"
)

// ErrClosed is the error of every operation on a log after its Close.
var ErrClosed = errors.New("eventlog: the log is closed")

// Mark is a digest by which something is found again: what it is of is known to who
// appends.
type Mark [16]byte

// Limits bound a log. The zero value of each is its default.
type Limits struct {
	// Bytes is the most that all events together take, 64 MiB by default, and
	// Conversation the most of one conversation, an eighth of it.
	Bytes, Conversation int64
	// Age is how long an event is kept, a week by default. It may be an eighth more.
	Age time.Duration
}

func (l Limits) defaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Conversation <= 0 {
		l.Conversation = l.Bytes / 8
	}
	if l.Age <= 0 {
		l.Age = 7 * 24 * time.Hour
	}
	return l
}

// Entry is an event to be appended.
type Entry struct {
	// Items are marks that the conversation is asked for by Known, and Heads those
	// that it is found by.
	Items, Heads []Mark
	// Event appends the bytes of the event, which has been given a number.
	Event func(dst []byte, seq int64) []byte
}

// Log keeps events. It is safe for concurrent use, and what one call has appended
// every later call finds.
type Log struct {
	limits  Limits
	segment int64 // about how long each gets
	folder  string
	warn    func(error)
	lock    *folderLock

	mu            sync.Mutex
	closed        bool
	segments      []*segment // the oldest first; the last one is written to
	size          int64
	conversations map[string]*conversation
	heads         map[Mark][]*conversation
	buffer        []byte
	tick          *time.Timer
}

// NewMemory makes a log that ends with the process.
func NewMemory(limits Limits) *Log {
	l := newLog(limits)
	l.warn = func(error) {}
	l.arm()
	return l
}

func newLog(limits Limits) *Log {
	limits = limits.defaults()
	return &Log{
		limits: limits, segment: max(limits.Bytes/16, 64<<10),
		conversations: map[string]*conversation{}, heads: map[Mark][]*conversation{},
	}
}

// arm has what is too old forgotten even if nobody asks.
func (l *Log) arm() {
	every := min(max(l.limits.Age/16, time.Second), time.Hour)
	l.tick = time.AfterFunc(every, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.closed {
			l.expire(time.Now())
			l.tick.Reset(every)
		}
	})
}

// Begin gives the number of a conversation's next turn.
func (l *Log) Begin(id string) (turn int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conversation(id)
	c.turns++
	return c.turns
}

// Append adds events to a turn of a conversation. After an error none of them was
// added. The events must not be appended to while they are written.
func (l *Log) Append(id string, turn int64, entries ...Entry) error {
	if len(id) == 0 || len(id) > maxID {
		return errors.New("eventlog: a conversation's name has 1 to 255 bytes")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	now := time.Now()
	l.expire(now)
	c := l.conversation(id)
	l.buffer = l.buffer[:0]
	var heads [maxBatch]head
	batch := heads[:0]
	for i := range entries {
		h := head{id: id, seq: c.next + int64(i), turn: turn, at: now, items: entries[i].Items, heads: entries[i].Heads}
		h.offset = int64(len(l.buffer))
		l.buffer = appendRecord(l.buffer, &h, entries[i].Event)
		batch = append(batch, h)
	}
	s, err := l.active(now)
	if err != nil {
		return l.gone(c, err)
	}
	start := s.size
	if err := s.write(l.buffer); err != nil {
		return l.gone(c, err)
	}
	l.size += int64(len(l.buffer))
	for i := range batch {
		batch[i].offset += start
		l.note(c, s, &batch[i])
	}
	l.bound(c)
	l.told(c)
	if cap(l.buffer) > maxBuffer {
		l.buffer = nil
	}
	return nil
}

// maxBatch is how many events are appended at once without another allocation, and
// maxBuffer how much room is kept for the next.
const (
	maxBatch  = 16
	maxBuffer = 256 << 10
)

// gone takes a conversation back that has nothing.
func (l *Log) gone(c *conversation, err error) error {
	if len(c.refs) == 0 {
		l.forget(c)
	}
	return err
}

// told wakes those that wait for events.
func (l *Log) told(c *conversation) {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Close ends the log, which gives up its files.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.tick.Stop()
	for _, c := range l.conversations {
		close(c.changed)
	}
	var err error
	for _, s := range l.segments {
		err = errors.Join(err, s.close())
	}
	if l.lock != nil {
		l.lock.release()
	}
	return err
}
