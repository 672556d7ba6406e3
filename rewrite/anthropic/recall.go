package anthropic

import (
	"hash/maphash"
	"slices"
	"sync"

	"warmpath/rewrite/continuity"
)

// Recall reads facts, and remembers what it has read: agents send everything
// again with each turn, and what is the same to the byte need not be read again.
// It gives what ReadFacts gives. It may be used by many at once.
//
// What is remembered are runs: stretches of messages, and whole lists of tools
// or sections. Their bytes are told apart by 128 bits of a hash with keys of
// this process's own, that nobody outside can know.
type Recall struct {
	seeds [3]maphash.Seed
	max   int
	lent  sync.Pool // of *[]continuity.Message

	mu         sync.Mutex
	young, old map[uint64][]*run
	size       int // of the young
}

// run is a stretch of a list that was read before. Its spans count from its
// beginning.
type run struct {
	of       Element
	length   int
	sum      [2]uint64
	tools    []continuity.Tool
	sections []continuity.Section
	messages []continuity.Message
	marks    int
}

const (
	// runStart is how many bytes a run is looked up by, which is the least that
	// one has.
	runStart = 512
	// runLength is the length in bytes from which a run of messages ends. It ends
	// earlier behind one of eight messages, picked by what they hold: so the runs
	// behind a message that was edited are the same again soon.
	runLength = 16 << 10
	// maxAlike bounds the runs that begin alike.
	maxAlike = 4
	// runCost and elementCost are about what a run and each of its elements take
	// in memory, in bytes.
	runCost, elementCost = 256, 192
)

// NewRecall makes one that takes about the given number of bytes at most.
func NewRecall(maxBytes int) *Recall {
	r := &Recall{max: maxBytes, young: map[uint64][]*run{}}
	for i := range r.seeds {
		r.seeds[i] = maphash.MakeSeed()
	}
	return r
}

// ReadFacts is the function of that name. The messages are lent.
func (r *Recall) ReadFacts(body []byte) (*continuity.Facts, error) { return readFacts(body, r) }

// maxLent is up to how many messages there is room for that is used again.
const maxLent = 8 << 10

// Release gives messages back that ReadFacts has lent, to be written over. Who
// does not call it only makes the next reader allocate room of its own.
func (r *Recall) Release(facts *continuity.Facts) {
	if lent := facts.Messages; cap(lent) > 0 && cap(lent) <= maxLent {
		facts.Messages = nil
		lent = lent[:0]
		r.lent.Put(&lent)
	}
}

func (r *Recall) key(text []byte) uint64 { return maphash.Bytes(r.seeds[0], text[:runStart]) }

func (r *Recall) sum(text []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(r.seeds[1], text), maphash.Bytes(r.seeds[2], text)}
}

// find gives the run with which the text begins, or nil.
func (r *Recall) find(of Element, text []byte) *run {
	if r == nil || len(text) < runStart {
		return nil
	}
	key := r.key(text)
	r.mu.Lock()
	young, old := r.young[key], r.old[key]
	r.mu.Unlock()
	if known := r.among(young, of, text); known != nil {
		return known
	}
	known := r.among(old, of, text)
	if known != nil {
		r.add(key, known)
	}
	return known
}

func (r *Recall) among(runs []*run, of Element, text []byte) *run {
	for _, known := range runs {
		if known.of == of && known.length <= len(text) && known.sum == r.sum(text[:known.length]) {
			return known
		}
	}
	return nil
}

// keep remembers a run that stands at a place of a body. Its elements are
// copied.
func (r *Recall) keep(known run, text []byte, at int) {
	if r == nil || len(text) < runStart {
		return
	}
	kept := &run{of: known.of, length: len(text), sum: r.sum(text), marks: known.marks,
		tools: slices.Clone(known.tools), sections: slices.Clone(known.sections), messages: slices.Clone(known.messages)}
	moveAll(kept.tools, -at)
	moveAll(kept.sections, -at)
	moveAll(kept.messages, -at)
	r.add(r.key(text), kept)
}

// add puts a run before those that begin alike. When the young are too many they
// are the old ones, and those are forgotten.
func (r *Recall) add(key uint64, known *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += known.cost(); r.size > r.max/2 {
		r.old, r.young, r.size = r.young, map[uint64][]*run{}, known.cost()
	}
	alike := r.young[key]
	r.young[key] = append([]*run{known}, alike[:min(len(alike), maxAlike-1)]...)
}

func (k *run) cost() int {
	return runCost + elementCost*(len(k.tools)+len(k.sections)+len(k.messages))
}

// mover is an element of a list.
type mover[E any] interface {
	*E
	Move(by int)
}

// moveAll moves elements by a number of bytes.
func moveAll[E any, M mover[E]](elements []E, by int) {
	for i := range elements {
		M(&elements[i]).Move(by)
	}
}
