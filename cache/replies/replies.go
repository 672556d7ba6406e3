// Package replies keeps what clients may go on from by a name instead of sending
// it again: for each reply the items that it was asked with and the reply itself,
// byte for byte, under its name and whoever asked. A conversation is a chain of
// such turns. Credentials are not part of a turn and are never stored.
package replies

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"warmpath/cache"
)

const (
	// MaxTurn is the most bytes of one turn that are kept.
	MaxTurn = 8 << 20
	// MaxChain is the most turns that a reply can be away from the first one.
	MaxChain = 1024

	// room is how much of a turn stands in one entry, and batch how many entries
	// are asked for at once: a store has a deadline for each of its answers.
	room  = 256 << 10
	batch = 8
)

var (
	// ErrUnknown says that there is no such reply: it was never kept, or not for
	// this tenant, or has expired, or something that it goes on from has.
	ErrUnknown = errors.New("replies: there is no such reply")
	// ErrTooLarge says that a turn, or a chain of them, is more than is kept or
	// was asked for.
	ErrTooLarge = errors.New("replies: too large")
)

// Replies keeps turns in a store. It is safe for concurrent use.
type Replies struct {
	store cache.Store
	ttl   time.Duration
}

// New keeps turns in a store for the given time each, or less if the store does.
func New(store cache.Store, ttl time.Duration) *Replies { return &Replies{store, ttl} }

// Within keeps turns in the same place, but for the given time at most.
func (r *Replies) Within(ttl time.Duration) *Replies { return &Replies{r.store, min(r.ttl, ttl)} }

// Turn is what was asked and what was answered.
type Turn struct {
	// Previous is the name of the reply that this one goes on from; empty for the
	// first.
	Previous string
	// Input is the JSON of the items that came with the request itself, and Reply
	// that of the whole reply as the client got it.
	Input, Reply []byte
}

// History is a chain of turns, the oldest first, up to a reply.
type History struct {
	Turns []Turn
	// keys are those of the turns.
	keys []key
	name string
}

// key is where a turn stands.
type key [16]byte

// keyOf hides tenant and name. Neither can be made to look like the other.
func keyOf(tenant, name string) (k key) {
	digest := sha256.New()
	digest.Write(binary.AppendUvarint([]byte("reply"), uint64(len(tenant))))
	digest.Write([]byte(tenant))
	digest.Write([]byte(name))
	copy(k[:], digest.Sum(nil))
	return k
}

// entry is the key of a piece of the turn; the first has its head.
func (k key) entry(piece int) string {
	name := "r1:" + string(k[:])
	if piece > 0 {
		name += string(binary.AppendUvarint(nil, uint64(piece)))
	}
	return name
}

// Save keeps a turn under the reply's name. After is what the request has gone on
// from, nil for nothing. The error wraps ErrTooLarge if the turn is more than is
// kept, or the chain.
func (r *Replies) Save(ctx context.Context, tenant, name string, after *History, turn Turn) error {
	if len(turn.Input)+len(turn.Reply) > MaxTurn {
		return fmt.Errorf("keeping a reply: %w: %d bytes, where %d are the most", ErrTooLarge, len(turn.Input)+len(turn.Reply), MaxTurn)
	}
	h := head{input: len(turn.Input), reply: len(turn.Reply)}
	if after != nil {
		h.previous, h.before = after.name, after.keys
	}
	if len(h.before) >= MaxChain {
		return fmt.Errorf("keeping a reply: %w: a chain of more than %d", ErrTooLarge, MaxChain)
	}
	k := keyOf(tenant, name)
	body := append(append(make([]byte, 0, h.size()), turn.Input...), turn.Reply...)
	h.digest = sha256.Sum256(body)
	// The head comes last: what it speaks of is there.
	for piece := h.pieces() - 1; piece >= 0; piece-- {
		value := body[piece*room : min((piece+1)*room, len(body))]
		if piece == 0 {
			value = append(h.append(nil), value...)
		}
		if err := r.store.Set(ctx, cache.Entry{Key: k.entry(piece), Value: value, TTL: r.ttl}); err != nil {
			return fmt.Errorf("keeping a reply: %w", err)
		}
	}
	return nil
}

// Load reads one turn. The error is ErrUnknown if there is none.
func (r *Replies) Load(ctx context.Context, tenant, name string) (Turn, error) {
	k := keyOf(tenant, name)
	h, rest, err := r.head(ctx, k)
	if err != nil {
		return Turn{}, err
	}
	return r.turn(ctx, k, h, rest)
}

// Find reads several turns, of at most so many bytes altogether. One that is not
// there is empty. The error wraps ErrTooLarge if they are more.
func (r *Replies) Find(ctx context.Context, tenant string, names []string, most int) ([]Turn, error) {
	turns := make([]Turn, len(names))
	for at := 0; at < len(names); at += batch {
		var keys []key
		var entries []string
		for _, name := range names[at:min(at+batch, len(names))] {
			k := keyOf(tenant, name)
			keys, entries = append(keys, k), append(entries, k.entry(0))
		}
		values, err := r.store.GetMany(ctx, entries...)
		if err != nil {
			return nil, fmt.Errorf("reading replies: %w", err)
		}
		for i, value := range values {
			h, rest, ok := readHead(value)
			if !ok {
				continue
			}
			if most -= h.size(); most < 0 {
				return nil, fmt.Errorf("reading replies: %w", ErrTooLarge)
			}
			if turns[at+i], err = r.turn(ctx, keys[i], h, rest); err != nil && !errors.Is(err, ErrUnknown) {
				return nil, err
			}
		}
	}
	return turns, nil
}

// Delete forgets a turn, and with it the way to all that it goes on from. The
// error is ErrUnknown if there is none.
func (r *Replies) Delete(ctx context.Context, tenant, name string) error {
	k := keyOf(tenant, name)
	h, _, err := r.head(ctx, k)
	if err != nil {
		return err
	}
	dead := make([]cache.Entry, h.pieces())
	for piece := range dead {
		dead[piece].Key = k.entry(piece)
	}
	if err := r.store.Set(ctx, dead...); err != nil {
		return fmt.Errorf("forgetting a reply: %w", err)
	}
	return nil
}

// History reads a reply's chain, of at most so many bytes altogether. The error
// wraps ErrUnknown if the reply or one that it goes on from is not there, and
// ErrTooLarge if the chain is longer.
func (r *Replies) History(ctx context.Context, tenant, name string, most int) (*History, error) {
	k := keyOf(tenant, name)
	last, rest, err := r.head(ctx, k)
	if err != nil {
		return nil, err
	}
	history := &History{keys: append(last.before[:len(last.before):len(last.before)], k), name: name}
	left := most - last.size()
	for at := 0; at < len(last.before) && left >= 0; at += batch {
		keys := last.before[at:min(at+batch, len(last.before))]
		if left, err = r.extend(ctx, history, keys, left); err != nil {
			return nil, err
		}
	}
	if left < 0 {
		return nil, fmt.Errorf("reading a conversation: %w: more than %d bytes", ErrTooLarge, most)
	}
	turn, err := r.turn(ctx, k, last, rest)
	if err != nil {
		return nil, err
	}
	history.Turns = append(history.Turns, turn)
	return history, nil
}

// extend appends turns to a history as long as there are bytes left for them.
func (r *Replies) extend(ctx context.Context, history *History, keys []key, left int) (int, error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.entry(0)
	}
	values, err := r.store.GetMany(ctx, names...)
	if err != nil {
		return left, fmt.Errorf("reading a conversation: %w", err)
	}
	for i, value := range values {
		h, rest, ok := readHead(value)
		if !ok {
			return left, ErrUnknown
		}
		if left -= h.size(); left < 0 {
			return left, nil
		}
		turn, err := r.turn(ctx, keys[i], h, rest)
		if err != nil {
			return left, err
		}
		history.Turns = append(history.Turns, turn)
	}
	return left, nil
}

// head reads the first entry of a turn, which has its beginning too.
func (r *Replies) head(ctx context.Context, k key) (head, []byte, error) {
	values, err := r.store.GetMany(ctx, k.entry(0))
	if err != nil {
		return head{}, nil, fmt.Errorf("reading a reply: %w", err)
	}
	h, rest, ok := readHead(values[0])
	if !ok {
		return head{}, nil, ErrUnknown
	}
	return h, rest, nil
}

// turn puts a turn together. A piece that is gone, or belongs to another writing
// of the turn, makes all of it unknown.
func (r *Replies) turn(ctx context.Context, k key, h head, body []byte) (Turn, error) {
	for at := 1; at < h.pieces(); at += batch {
		var names []string
		for piece := at; piece < min(at+batch, h.pieces()); piece++ {
			names = append(names, k.entry(piece))
		}
		values, err := r.store.GetMany(ctx, names...)
		if err != nil {
			return Turn{}, fmt.Errorf("reading a reply: %w", err)
		}
		for _, value := range values {
			body = append(body[:len(body):len(body)], value...)
		}
	}
	if len(body) != h.size() || sha256.Sum256(body) != h.digest {
		return Turn{}, ErrUnknown
	}
	return Turn{Previous: h.previous, Input: body[:h.input:h.input], Reply: body[h.input:]}, nil
}
