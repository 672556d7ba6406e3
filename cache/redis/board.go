package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Board is what gateways pin for each other to see, beside what they remember: small
// values by kind and name, each for a time, and calls to look at them. The names of a
// kind are in a set, as the server is not to be searched for them.
type Board struct {
	store  *Store
	client *goredis.Client
}

// boardTimeout is how long a read from or a write to the server may take for the board.
// People's answers are on it, who would rather wait than answer again.
const boardTimeout = time.Second

// Board gives the store's board, which has more patience with the server. It is closed
// with the store.
func (s *Store) Board() *Board { return &Board{store: s, client: s.client.WithTimeout(boardTimeout)} }

func (b *Board) names(kind string) string     { return b.store.prefix + "board:" + kind }
func (b *Board) key(kind, name string) string { return b.names(kind) + ":" + name }
func (b *Board) channel() string              { return b.store.prefix + "board" }

// Pin puts a value under a kind and a name for a time, or takes it down if the time
// is not positive. With once it does so only if nothing is there, and reports whether
// it was first.
func (b *Board) Pin(ctx context.Context, kind, name string, value []byte, life time.Duration, once bool) (first bool, err error) {
	if value == nil {
		value = []byte{}
	}
	pipe := b.client.Pipeline()
	var set *goredis.Cmd
	switch {
	case life <= 0:
		pipe.Do(ctx, "del", b.key(kind, name))
		pipe.Do(ctx, "srem", b.names(kind), name)
	case once:
		set = pipe.Do(ctx, "set", b.key(kind, name), value, "px", lifetime(life), "nx")
		pipe.Do(ctx, "sadd", b.names(kind), name)
	default:
		pipe.Do(ctx, "set", b.key(kind, name), value, "px", lifetime(life))
		pipe.Do(ctx, "sadd", b.names(kind), name)
	}
	// That something is there already is told as an error too.
	_, err = pipe.Exec(ctx)
	taken := set != nil && errors.Is(set.Err(), goredis.Nil)
	if err != nil && !(taken && errors.Is(err, goredis.Nil)) {
		return false, b.store.failed(ctx, "pinning", err)
	}
	return !taken, nil
}

// Pinned are the values of a kind by their names, in two round trips. Names whose
// time is over leave the set.
func (b *Board) Pinned(ctx context.Context, kind string) (map[string][]byte, error) {
	names, err := b.client.Do(ctx, "smembers", b.names(kind)).StringSlice()
	if err != nil {
		return nil, b.store.failed(ctx, "reading what is pinned", err)
	}
	pinned := make(map[string][]byte, len(names))
	if len(names) == 0 {
		return pinned, nil
	}
	args := make([]any, 1, 1+len(names))
	args[0] = "mget"
	for _, name := range names {
		args = append(args, b.key(kind, name))
	}
	values, err := b.client.Do(ctx, args...).Slice()
	if err != nil {
		return nil, b.store.failed(ctx, "reading what is pinned", err)
	}
	if len(values) != len(names) {
		return nil, fmt.Errorf("redis: asked for %d keys, the server answered with %d", len(names), len(values))
	}
	over := []any{"srem", b.names(kind)}
	for i, value := range values {
		if text, ok := value.(string); ok {
			pinned[names[i]] = []byte(text)
		} else {
			over = append(over, names[i])
		}
	}
	if len(over) > 2 {
		// What is pinned again at this moment is found when it is pinned the next time.
		_ = b.client.Do(ctx, over...).Err()
	}
	return pinned, nil
}

// Call tells all who listen to look at the board.
func (b *Board) Call(ctx context.Context) error {
	if err := b.client.Do(ctx, "publish", b.channel(), "").Err(); err != nil {
		return b.store.failed(ctx, "calling", err)
	}
	return nil
}

// Listen gives a signal for each call that is heard until ctx ends, which closes the
// channel. Calls that come together are one signal, and those while the server is gone
// are lost.
func (b *Board) Listen(ctx context.Context) <-chan struct{} {
	calls := make(chan struct{}, 1)
	go func() {
		defer close(calls)
		heard := b.client.Subscribe(ctx, b.channel())
		defer heard.Close()
		messages := heard.Channel(goredis.WithChannelSize(16))
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-messages:
				if !ok {
					return
				}
			}
			select {
			case calls <- struct{}{}:
			default:
			}
		}
	}()
	return calls
}
