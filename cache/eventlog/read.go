package eventlog

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"
)

// Summary is what the log knows of a conversation without reading it.
type Summary struct {
	ID string
	// First and Last are the numbers of its events: what is before First was
	// forgotten.
	First, Last int64
	Turns       int64
	// Started and Updated are when its first event and its last were appended, to
	// the millisecond.
	Started, Updated time.Time
	// Bytes is what it takes.
	Bytes int64
}

// Event is an event as it was appended.
type Event struct {
	Seq   int64
	Bytes []byte
}

func (c *conversation) summary() Summary {
	s := Summary{ID: c.id, Last: c.next - 1, Turns: c.turns, Started: c.started, Updated: c.updated, Bytes: c.size}
	if len(c.refs) > 0 {
		s.First = c.refs[0].seq
	}
	return s
}

// Find gives the conversation that one of the marks is a head of: the first mark
// that is known decides. Where several conversations have it, it is one that has not
// gone on from there, and now does; if there is none, the name is empty.
func (l *Log) Find(marks ...Mark) (id string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(time.Now())
	for _, m := range marks {
		all := l.heads[m]
		if len(all) == 1 {
			return all[0].id, true
		}
		for _, c := range all {
			if slices.Contains(c.end, m) {
				c.end = nil
				return c.id, true
			}
		}
		if len(all) > 0 {
			return "", true
		}
	}
	return "", false
}

// Claim takes a name for a conversation that begins; false if there is one of this
// name.
func (l *Log) Claim(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(time.Now())
	if l.conversations[id] != nil {
		return false
	}
	l.conversation(id)
	return true
}

// Known gives for each mark how many items of the conversation have it.
func (l *Log) Known(id string, marks ...Mark) []int {
	counts := make([]int, len(marks))
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.conversations[id]; c != nil {
		for i, m := range marks {
			counts[i] = c.items[m] + c.before[m]
		}
	}
	return counts
}

// Summary is what is known of one conversation; ok is false if there is none.
func (l *Log) Summary(id string) (s Summary, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(time.Now())
	c := l.conversations[id]
	if c == nil || len(c.refs) == 0 {
		return s, false
	}
	return c.summary(), true
}

// List gives conversations, the one that was last appended to first, up to a limit:
// those that come after one with this time and name, if a name is given.
func (l *Log) List(updated time.Time, id string, limit int) []Summary {
	l.mu.Lock()
	l.expire(time.Now())
	all := make([]Summary, 0, len(l.conversations))
	for _, c := range l.conversations {
		if len(c.refs) > 0 {
			all = append(all, c.summary())
		}
	}
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b Summary) int { return order(a.Updated, a.ID, b.Updated, b.ID) })
	if id != "" {
		all = slices.DeleteFunc(all, func(s Summary) bool { return order(s.Updated, s.ID, updated, id) <= 0 })
	}
	return all[:min(len(all), limit)]
}

// order puts the newest first, by the millisecond, and then by name.
func order(at time.Time, id string, other time.Time, otherID string) int {
	return cmp.Or(cmp.Compare(other.UnixMilli(), at.UnixMilli()), cmp.Compare(id, otherID))
}

// Read gives the events of a conversation after a number, up to a limit and to about
// so many bytes, but at least one if there is one. More says that there are others.
// There are none of a conversation that is not known.
func (l *Log) Read(id string, after int64, limit int, most int64) (events []Event, more bool, err error) {
	// A segment may be forgotten while it is read.
	for range 3 {
		events, more, err = l.read(id, after, limit, most)
		if !errors.Is(err, os.ErrClosed) {
			break
		}
	}
	return events, more, err
}

func (l *Log) read(id string, after int64, limit int, most int64) (events []Event, more bool, err error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, false, ErrClosed
	}
	l.expire(time.Now())
	var refs []ref
	memory := map[*segment][]byte{}
	total := int64(0)
	if c := l.conversations[id]; c != nil {
		for i := c.from(after); i < len(c.refs); i++ {
			r := c.refs[i]
			if len(refs) >= limit || total > 0 && total+int64(r.length) > most {
				more = true
				break
			}
			total += int64(r.length)
			refs = append(refs, r)
			memory[r.segment] = r.segment.memory
		}
	}
	l.mu.Unlock()
	text := make([]byte, 0, total)
	events = make([]Event, 0, len(refs))
	for i := range refs {
		at := len(text)
		if text, err = refs[i].segment.read(text, memory[refs[i].segment], &refs[i]); err != nil {
			return nil, false, err
		}
		events = append(events, Event{refs[i].seq, slices.Clip(text[at:])})
	}
	return events, more, nil
}

// Wait returns once the conversation has events after a number, or with the error of
// the context or of a log that is closed.
func (l *Log) Wait(ctx context.Context, id string, after int64) error {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return ErrClosed
		}
		c := l.conversations[id]
		if c == nil || len(c.refs) == 0 && c.next == 1 {
			l.mu.Unlock()
			return ErrUnknown
		}
		changed, there := c.changed, c.next > after+1
		l.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// ErrUnknown says that there is no such conversation, or no more.
var ErrUnknown = errors.New("eventlog: there is no such conversation")
