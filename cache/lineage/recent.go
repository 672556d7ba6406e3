package lineage

import (
	"bytes"
	"container/list"
	"sync"
	"time"
)

// recent is what this process has lately read from the store or written to it,
// of what never changes: elements and parts of states under their hashes. It
// spares round trips, and nothing depends on it.
type recent struct {
	max int // bytes

	mu    sync.Mutex
	items map[string]*list.Element // of *recentItem
	used  *list.List               // the last used at the front
	size  int
	// losses counts the times that the store was seen to have lost something.
	losses int
	last   time.Time // of these
}

type recentItem struct {
	key   string
	value []byte
	// written is when this process last wrote it to the store, if ever, and losses
	// how often that had lost something by then.
	written time.Time
	losses  int
}

// recentCost is about what an item takes beside its key and value.
const recentCost = 256

func newRecent(max int) *recent {
	return &recent{max: max, items: map[string]*list.Element{}, used: list.New()}
}

// get is the value of a key, nil if it is not at hand.
func (r *recent) get(key string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.items[key]
	if e == nil {
		return nil
	}
	r.used.MoveToFront(e)
	return e.Value.(*recentItem).value
}

// lost forgets what was written, but not the values, unless that was done within
// a pause before now.
func (r *recent) lost(now time.Time, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.last) >= pause {
		r.losses++
		r.last = now
	}
}

// seen is how often the store was seen to have lost something.
func (r *recent) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.losses
}

// writtenSince reports whether this process has written the key after a time,
// and the store has lost nothing since.
func (r *recent) writtenSince(key string, when time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.items[key]
	if e == nil {
		return false
	}
	item := e.Value.(*recentItem)
	return item.losses == r.losses && item.written.After(when)
}

// put notes a copy of a value; when is the time at which it was written, zero for
// one that was read, and losses what was seen by then.
func (r *recent) put(key string, value []byte, when time.Time, losses int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.items[key]; e != nil {
		r.used.MoveToFront(e)
		if item := e.Value.(*recentItem); !when.Before(item.written) {
			item.written, item.losses = when, losses
		}
		return
	}
	item := &recentItem{key, bytes.Clone(value), when, losses}
	if item.cost() > r.max {
		return
	}
	r.items[key] = r.used.PushFront(item)
	for r.size += item.cost(); r.size > r.max; {
		last := r.used.Remove(r.used.Back()).(*recentItem)
		delete(r.items, last.key)
		r.size -= last.cost()
	}
}

func (i *recentItem) cost() int { return len(i.key) + len(i.value) + recentCost }

// heads are histories under which this process has lately saved or found a
// state: where one of a request's is among them, nothing before it need be
// looked up. The older half is forgotten at a time.
type heads struct {
	mu           sync.Mutex
	young, older map[Head]struct{}
}

// maxHeads bounds each half.
const maxHeads = 1 << 15

func (h *heads) add(head Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.young) >= maxHeads {
		h.young, h.older = nil, h.young
	}
	if h.young == nil {
		h.young = make(map[Head]struct{})
	}
	h.young[head] = struct{}{}
}

// remove forgets a history.
func (h *heads) remove(head Head) (known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, young := h.young[head]
	_, older := h.older[head]
	delete(h.young, head)
	delete(h.older, head)
	return young || older
}

// last is the index of the last of some histories that is known here, or -1.
func (h *heads) last(among []Head) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(among) - 1; i >= 0; i-- {
		if _, ok := h.young[among[i]]; ok {
			return i
		}
		if _, ok := h.older[among[i]]; ok {
			return i
		}
	}
	return -1
}
