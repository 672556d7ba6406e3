package cache

import (
	"bytes"
	"container/heap"
	"container/list"
	"context"
	"sync"
	"time"
)

// entryCost is what an entry takes beside its key and value: the item, its map
// slot, its list element and its place in the heap, measured and rounded up.
const entryCost = 256

// Memory is a Store in this process's memory, bounded in bytes. When it is full
// it drops what has expired, then what was used longest ago.
//
// It is one lock around a list and a heap. Caches that are cleverer about what
// to keep weigh a new entry against how often others were asked for, and may
// refuse it; the state of a conversation is new at every turn, is asked for
// once, and must be there then.
type Memory struct {
	max int64

	mu     sync.Mutex
	items  map[string]*item
	used   *list.List // of *item, the last used at the front
	dying  expiries
	size   int64
	closed bool
}

type item struct {
	key     string
	value   []byte // never changed, only replaced: readers share it
	expires time.Time
	place   *list.Element
	index   int // in dying
}

func (i *item) cost() int64 { return int64(len(i.key)+len(i.value)) + entryCost }

var _ Store = (*Memory)(nil)

// NewMemory makes a store that takes at most about maxBytes of memory, keys and
// bookkeeping included. An entry larger than that is not kept.
func NewMemory(maxBytes int64) *Memory {
	return &Memory{max: maxBytes, items: map[string]*item{}, used: list.New()}
}

// GetMany implements Store. It counts as use of the entries that it finds.
func (m *Memory) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := ready(ctx, CheckKeys(keys...)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	now := time.Now()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		if it := m.find(key, now); it != nil {
			m.used.MoveToFront(it.place)
			values[i] = it.value
		}
	}
	return values, nil
}

// Set implements Store.
func (m *Memory) Set(ctx context.Context, entries ...Entry) error {
	if err := ready(ctx, CheckEntries(entries...)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	now := time.Now()
	for i := range entries {
		m.put(&entries[i], now)
	}
	return nil
}

// CompareAndSwap implements Store.
func (m *Memory) CompareAndSwap(ctx context.Context, old []byte, entry Entry) (swapped bool, err error) {
	if err := ready(ctx, CheckEntries(entry)); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false, ErrClosed
	}
	now := time.Now()
	it := m.find(entry.Key, now)
	if (it == nil) != (old == nil) || it != nil && !bytes.Equal(it.value, old) {
		return false, nil
	}
	m.put(&entry, now)
	return true, nil
}

// Close implements Store. The memory is free again at once.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.items, m.dying, m.size = nil, nil, 0
	m.used.Init()
	return nil
}

// ready is the error that ends an operation before it begins.
func ready(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return ctx.Err()
}

func (m *Memory) find(key string, now time.Time) *item {
	it := m.items[key]
	if it == nil || !now.Before(it.expires) {
		return nil
	}
	return it
}

func (m *Memory) put(e *Entry, now time.Time) {
	if it := m.items[e.Key]; it != nil {
		m.drop(it)
	}
	if e.TTL <= 0 {
		return
	}
	it := &item{key: e.Key, expires: now.Add(e.TTL)}
	it.value = append(make([]byte, 0, len(e.Value)), e.Value...)
	if it.cost() > m.max {
		return
	}
	m.shrink(m.max-it.cost(), now)
	m.size += it.cost()
	m.items[it.key] = it
	it.place = m.used.PushFront(it)
	heap.Push(&m.dying, it)
}

// shrink drops entries until what is left takes at most size.
func (m *Memory) shrink(size int64, now time.Time) {
	for len(m.dying) > 0 && !now.Before(m.dying[0].expires) {
		m.drop(m.dying[0])
	}
	for m.size > size {
		m.drop(m.used.Back().Value.(*item))
	}
}

func (m *Memory) drop(it *item) {
	delete(m.items, it.key)
	m.used.Remove(it.place)
	heap.Remove(&m.dying, it.index)
	m.size -= it.cost()
}

// expiries is a heap of items, the one that dies next on top.
type expiries []*item

func (e expiries) Len() int           { return len(e) }
func (e expiries) Less(i, j int) bool { return e[i].expires.Before(e[j].expires) }

func (e expiries) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].index, e[j].index = i, j
}

// Push is for package heap.
func (e *expiries) Push(x any) {
	it := x.(*item)
	it.index = len(*e)
	*e = append(*e, it)
}

// Pop is for package heap.
func (e *expiries) Pop() any {
	last := len(*e) - 1
	it := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return it
}
