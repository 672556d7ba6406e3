// Package ledger keeps what clients are not told of a reply: the calls that the
// gateway has answered itself, with all that the model has made around them, byte for
// byte. It is found again by what the client does get of the reply, and by who asks.
package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"warmpath/cache"
	"warmpath/rewrite"
)

const (
	// MaxEntry is the most bytes of one entry.
	MaxEntry = 16 << 20

	// room is how much of an entry stands under one key, and batch how many replies
	// are asked for at once: a store has a deadline for each of its answers.
	room  = 256 << 10
	batch = 32
)

// ErrTooLarge says that a reply is more than is kept.
var ErrTooLarge = errors.New("ledger: too large")

// Entry is what a client was not told of a reply.
type Entry struct {
	// Items are all that the model has made, and the results between. Results are
	// those of its last calls, which belong among the client's own.
	Items, Results []rewrite.Item
}

// Ledger keeps entries in a store. It is safe for concurrent use.
type Ledger struct {
	store cache.Store
	ttl   time.Duration
}

// New keeps entries for the given time after they were last of use.
func New(store cache.Store, ttl time.Duration) *Ledger { return &Ledger{store, ttl} }

// key is where an entry stands.
type key [16]byte

// keys are the places of a reply: by all that stands before it, by the turn before
// it, and, where its calls are called like no others, by itself. An agent may have
// changed its history, or the turn.
func keys(tenant string, run *rewrite.Run) []key {
	reply := run.Reply.Print()
	all := []key{
		keyOf("history", tenant, reply, run.History),
		keyOf("turn", tenant, reply, run.Turn),
	}
	if run.Reply.Calls() {
		all = append(all, keyOf("calls", tenant, reply, rewrite.Fingerprint{}))
	}
	return all
}

// keyOf hides what it is made of.
func keyOf(kind, tenant string, reply, before rewrite.Fingerprint) (k key) {
	digest := sha256.New()
	digest.Write(binary.AppendUvarint([]byte("ledger "+kind), uint64(len(tenant))))
	digest.Write([]byte(tenant))
	digest.Write(reply[:])
	digest.Write(before[:])
	copy(k[:], digest.Sum(nil))
	return k
}

// piece is the store's key of a piece of an entry.
func (k key) piece(n int) string {
	name := "l1:" + string(k[:])
	if n > 0 {
		name += string(binary.AppendUvarint(nil, uint64(n)))
	}
	return name
}

// Save keeps the entry of a reply. The error wraps ErrTooLarge if it is more than is
// kept.
func (l *Ledger) Save(ctx context.Context, tenant string, run *rewrite.Run, e *Entry) error {
	body := encode(e)
	if len(body) > MaxEntry {
		return fmt.Errorf("keeping the calls of a reply: %w: %d bytes, where %d are the most", ErrTooLarge, len(body), MaxEntry)
	}
	places := keys(tenant, run)
	return l.write(ctx, places[0], places[1:], body)
}

// write puts an entry under its first key, and there under the others. The head
// comes last: what it speaks of is there.
func (l *Ledger) write(ctx context.Context, at key, others []key, body []byte) error {
	h := head{size: len(body), digest: sha256.Sum256(body), written: time.Now()}
	for piece := h.pieces() - 1; piece >= 0; piece-- {
		value := body[piece*room : min((piece+1)*room, len(body))]
		if piece == 0 {
			value = append(h.append(nil), value...)
		}
		if err := l.store.Set(ctx, cache.Entry{Key: at.piece(piece), Value: value, TTL: l.ttl}); err != nil {
			return fmt.Errorf("keeping the calls of a reply: %w", err)
		}
	}
	entries := make([]cache.Entry, len(others))
	for i, other := range others {
		entries[i] = cache.Entry{Key: other.piece(0), Value: append([]byte{pointerMark}, at[:]...), TTL: l.ttl}
	}
	if err := l.store.Set(ctx, entries...); err != nil {
		return fmt.Errorf("keeping the calls of a reply: %w", err)
	}
	return nil
}

// Find gives the entries of replies that a client sends again, nil where there is
// none. What it has found before an error is good.
func (l *Ledger) Find(ctx context.Context, tenant string, runs []rewrite.Run) ([]*Entry, error) {
	found := make([]*Entry, len(runs))
	for at := 0; at < len(runs); at += batch {
		if err := l.find(ctx, tenant, runs[at:min(at+batch, len(runs))], found[at:]); err != nil {
			return found, err
		}
	}
	return found, nil
}

// find finds some entries. The first key that leads to one counts.
func (l *Ledger) find(ctx context.Context, tenant string, runs []rewrite.Run, found []*Entry) error {
	places := make([][]key, len(runs))
	var names []string
	for i := range runs {
		if runs[i].Reply.Empty() {
			continue
		}
		places[i] = keys(tenant, &runs[i])
		for _, k := range places[i] {
			names = append(names, k.piece(0))
		}
	}
	if len(names) == 0 {
		return nil
	}
	values, err := l.store.GetMany(ctx, names...)
	if err != nil {
		return fmt.Errorf("reading the calls of replies: %w", err)
	}
	for i := range runs {
		own := values[:len(places[i])]
		values = values[len(places[i]):]
		if found[i], err = l.first(ctx, places[i], own); err != nil {
			return err
		}
	}
	return nil
}

// first is the entry that one of several values leads to.
func (l *Ledger) first(ctx context.Context, places []key, values [][]byte) (*Entry, error) {
	for i, value := range values {
		at := places[i]
		if target, is := pointer(value); is {
			at = target
			pointed, err := l.store.GetMany(ctx, at.piece(0))
			if err != nil {
				return nil, fmt.Errorf("reading the calls of replies: %w", err)
			}
			value = pointed[0]
		}
		body, old, err := l.read(ctx, at, value)
		if err != nil {
			return nil, err
		}
		e, ok := decode(body)
		if !ok {
			continue
		}
		if old || at != places[0] {
			// It was of use, and will be looked for here.
			_ = l.write(ctx, places[0], places[1:], body)
		}
		return e, nil
	}
	return nil, nil
}

// read reads an entry whose first piece is given; nil if something of it is gone. Old
// entries are to be kept anew.
func (l *Ledger) read(ctx context.Context, at key, value []byte) (body []byte, old bool, err error) {
	h, body, ok := readHead(value)
	if !ok {
		return nil, false, nil
	}
	for from := 1; from < h.pieces(); from += 8 {
		var names []string
		for piece := from; piece < min(from+8, h.pieces()); piece++ {
			names = append(names, at.piece(piece))
		}
		values, err := l.store.GetMany(ctx, names...)
		if err != nil {
			return nil, false, fmt.Errorf("reading the calls of replies: %w", err)
		}
		for _, value := range values {
			body = append(body[:len(body):len(body)], value...)
		}
	}
	if len(body) != h.size || sha256.Sum256(body) != h.digest {
		return nil, false, nil
	}
	return body, time.Since(h.written) > l.ttl/4, nil
}

// The first byte of a value says what it is.
const (
	headMark    = 'e'
	pointerMark = 'p'
)

// pointer is where a value says that the entry is.
func pointer(value []byte) (k key, is bool) {
	if len(value) != 1+len(k) || value[0] != pointerMark {
		return k, false
	}
	copy(k[:], value[1:])
	return k, true
}

// head is what stands before an entry.
type head struct {
	size    int
	digest  [sha256.Size]byte
	written time.Time
}

func (h *head) pieces() int { return max(1, (h.size+room-1)/room) }

const headSize = 1 + 8 + 8 + sha256.Size

func (h *head) append(dst []byte) []byte {
	dst = append(dst, headMark)
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.size))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.written.Unix())) //nolint:gosec // after 1970
	return append(dst, h.digest[:]...)
}

func readHead(value []byte) (h head, rest []byte, ok bool) {
	if len(value) < headSize || value[0] != headMark {
		return head{}, nil, false
	}
	size := binary.BigEndian.Uint64(value[1:])
	if size > MaxEntry {
		return head{}, nil, false
	}
	h.size, h.written = int(size), time.Unix(int64(binary.BigEndian.Uint64(value[9:])), 0) //nolint:gosec // no later than an int64
	copy(h.digest[:], value[17:])
	return h, value[headSize:len(value):len(value)], true
}
