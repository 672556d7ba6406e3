package front

import (
	"net"
	"sync"
)

// watcher knows the connections that are open, and ends the lives of those whose
// clients have left, or of all when the server has lost its patience.
type watcher struct {
	sight

	mu    sync.Mutex
	last  uint32
	lives map[uint32]*life
	over  error // why every life has ended
}

func newWatcher() (*watcher, error) {
	w := &watcher{lives: map[uint32]*life{}}
	if err := w.sight.open(w.left); err != nil {
		return nil, err
	}
	return w, nil
}

// add begins to watch a connection, until remove or the end of the connection,
// and gives the token by which it is known.
func (w *watcher) add(conn *net.TCPConn, l *life) uint32 {
	w.mu.Lock()
	// Zero is no token, and others may still be taken after a full turn.
	for w.last++; w.last == 0 || w.lives[w.last] != nil; w.last++ {
	}
	token, over := w.last, w.over
	w.lives[token] = l
	w.mu.Unlock()
	if over != nil {
		l.end(over)
	}
	w.watch(conn, token)
	return token
}

func (w *watcher) remove(token uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lives, token)
}

func (w *watcher) left(token uint32) {
	w.mu.Lock()
	l := w.lives[token]
	w.mu.Unlock()
	if l != nil {
		l.end(errClientLeft)
	}
}

// endAll ends every life, also those that are still to begin.
func (w *watcher) endAll(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = cause
	for _, l := range w.lives {
		l.end(cause)
	}
}
