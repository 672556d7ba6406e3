package console

import (
	"sync"
	"time"
)

// rhythm is how often what is looked at is drawn anew: a page changes so often at most,
// however much happens behind it and however many look at it.
const rhythm = time.Second

// scene is something to look at: a page, or the prompts on it.
type scene struct{ kind, id string }

// hub draws the scenes that somebody looks at, each once for all who do.
type hub struct {
	paint  func(scene) []drawn
	mu     sync.Mutex
	boards map[scene]*board
}

// board has a view as it was drawn last.
type board struct {
	scene   scene
	lookers int // guarded by the hub's lock
	stop    chan struct{}
	wake    chan struct{}

	mu      sync.Mutex
	parts   []drawn
	version int64
	changed chan struct{} // closed when the version is another one
}

// drawn is a part of a view, and the version in which it changed last.
type drawn struct {
	name, html string
	version    int64
}

// join begins to look at a view.
func (h *hub) join(s *Server, v scene) *board {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.boards[v]
	if b == nil {
		b = &board{scene: v, stop: make(chan struct{}), wake: make(chan struct{}, 1), changed: make(chan struct{})}
		if h.boards == nil {
			h.boards = map[scene]*board{}
		}
		h.boards[v] = b
		s.working.Go(func() { b.run(h.paint, s.ended.Done()) })
	}
	b.lookers++
	return b
}

// leave ends looking at a view, which is not drawn any more if it was the last one.
func (h *hub) leave(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.lookers--; b.lookers == 0 {
		delete(h.boards, b.scene)
		close(b.stop)
	}
}

// hurry has a view drawn without waiting for the next beat.
func (h *hub) hurry(b *board) {
	select {
	case b.wake <- struct{}{}:
	default: // it is on its way
	}
}

// run draws the view until nobody looks at it any more.
func (b *board) run(paint func(scene) []drawn, ended <-chan struct{}) {
	tick := time.NewTicker(rhythm)
	defer tick.Stop()
	for {
		b.put(paint(b.scene))
		select {
		case <-tick.C:
		case <-b.wake:
		case <-b.stop:
			return
		case <-ended:
			return
		}
	}
}

// put takes what has been drawn, and tells those who look if it is another picture.
func (b *board) put(parts []drawn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next, differs := b.version+1, false
	for i := range parts {
		parts[i].version = next
		for j := range b.parts {
			if old := &b.parts[j]; old.name == parts[i].name && old.html == parts[i].html {
				parts[i].version = old.version
			}
		}
		differs = differs || parts[i].version == next
	}
	if !differs {
		return
	}
	b.parts, b.version = parts, next
	close(b.changed)
	b.changed = make(chan struct{})
}
