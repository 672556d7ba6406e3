package eventlog

import (
	"slices"
	"sort"
	"time"
)

// conversation is what is known of one in memory: where its events are.
type conversation struct {
	id               string
	refs             []ref
	next, turns      int64
	turn             int64 // of its last event
	started, updated time.Time
	size             int64
	// Items are counted in two generations, so that those of long ago give way.
	items, before map[Mark]int
	heads         []Mark
	// end are the heads of its last turn, as long as none follows.
	end     []Mark
	changed chan struct{}
}

// ref is where an event is.
type ref struct {
	seq     int64
	segment *segment
	offset  int64 // of the event itself
	length  int32
	whole   int32 // with its head
}

// What is remembered of marks for each conversation: of items at least, and at most
// twice as many; of heads at most.
const (
	leastItems = 8 << 10
	mostHeads  = 4 << 10
)

// conversation finds one, or begins it.
func (l *Log) conversation(id string) *conversation {
	c := l.conversations[id]
	if c == nil {
		c = &conversation{id: id, next: 1, items: map[Mark]int{}, changed: make(chan struct{})}
		l.conversations[id] = c
	}
	return c
}

// note takes down an event that is in a segment.
func (l *Log) note(c *conversation, s *segment, h *head) {
	whole := int32(h.size)
	c.refs = append(c.refs, ref{h.seq, s, h.offset + h.size - int64(h.length), int32(h.length), whole})
	if h.turn != c.turn {
		c.turn, c.end = h.turn, nil
	}
	c.next, c.turns = h.seq+1, max(c.turns, h.turn)
	if c.started.IsZero() {
		c.started = h.at
	}
	if c.updated = h.at; s.oldest.IsZero() {
		s.oldest = h.at
	}
	s.newest = h.at
	c.size += int64(whole)
	for _, m := range h.items {
		if len(c.items) >= leastItems {
			c.items, c.before = map[Mark]int{}, c.items
		}
		c.items[m]++
	}
	for _, m := range h.heads {
		if len(c.heads) == mostHeads {
			l.behead(c, 1)
		}
		if !slices.Contains(l.heads[m], c) {
			c.heads = append(c.heads, m)
			l.heads[m] = append(l.heads[m], c)
		}
	}
	if len(h.heads) > 0 {
		c.end = slices.Clone(h.heads)
	}
}

// behead forgets the first heads of a conversation.
func (l *Log) behead(c *conversation, n int) {
	for _, m := range c.heads[:n] {
		others := slices.DeleteFunc(l.heads[m], func(o *conversation) bool { return o == c })
		if l.heads[m] = others; len(others) == 0 {
			delete(l.heads, m)
		}
	}
	c.heads = slices.Delete(c.heads, 0, n)
}

// bound forgets the first events of a conversation that has too many, and some more,
// so that not every event has to.
func (l *Log) bound(c *conversation) {
	if c.size <= l.limits.Conversation {
		return
	}
	n := 0
	for c.size > l.limits.Conversation*15/16 && n < len(c.refs)-1 {
		c.size -= int64(c.refs[n].whole)
		n++
	}
	c.refs = slices.Delete(c.refs, 0, n)
}

// forget forgets a conversation.
func (l *Log) forget(c *conversation) {
	l.behead(c, len(c.heads))
	close(c.changed)
	delete(l.conversations, c.id)
}

// expire forgets the segments that are too old, and those that are too many.
func (l *Log) expire(now time.Time) {
	n := 0
	for n < len(l.segments) && l.segments[n].size > 0 &&
		(now.Sub(l.segments[n].newest) > l.limits.Age || l.size > l.limits.Bytes-l.segment && n < len(l.segments)-1) {
		l.size -= l.segments[n].size
		n++
	}
	if n == 0 {
		return
	}
	for _, c := range l.conversations {
		gone := 0
		for gone < len(c.refs) && slices.Contains(l.segments[:n], c.refs[gone].segment) {
			c.size -= int64(c.refs[gone].whole)
			gone++
		}
		if c.refs = slices.Delete(c.refs, 0, gone); gone > 0 && len(c.refs) == 0 {
			l.forget(c)
		}
	}
	for _, s := range l.segments[:n] {
		if err := s.remove(); err != nil {
			l.warn(err)
		}
	}
	l.segments = slices.Delete(l.segments, 0, n)
}

// active is the segment to write to.
func (l *Log) active(now time.Time) (*segment, error) {
	if n := len(l.segments); n > 0 {
		s := l.segments[n-1]
		if s.size < l.segment && !s.full && (s.oldest.IsZero() || now.Sub(s.oldest) < l.limits.Age/8) {
			return s, nil
		}
	}
	number := int64(1)
	if n := len(l.segments); n > 0 {
		number = l.segments[n-1].number + 1
	}
	s, err := l.newSegment(number)
	if err != nil {
		return nil, err
	}
	l.segments = append(l.segments, s)
	return s, nil
}

// from is the index of the first event after a number.
func (c *conversation) from(after int64) int {
	return sort.Search(len(c.refs), func(i int) bool { return c.refs[i].seq > after })
}
