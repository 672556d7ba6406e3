// Package redis is the store that several gateways share, so that each gives
// the same bytes whichever a conversation's next request comes to.
//
// It asks once, with short deadlines, and never again: who wants the answer is
// a request that goes on without it. cache.Guard, before it, keeps requests
// from a server that is gone.
package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"warmpath/cache"
)

// layout is in every key, so that a gateway whose entries look otherwise does
// not read these, nor these gateways its.
const layout = "v1"

// Options adjust a store. Where a field is zero its default holds.
type Options struct {
	// Prefix begins every key, so that several fleets can share a server;
	// "warmpath" by default.
	Prefix string
	// Timeout is how long a read from or a write to the server may take if the
	// context does not end earlier; 50 ms by default.
	Timeout time.Duration
	// Log, if set, gets what the client library has to say, a line every ten
	// seconds at most. The library has one logger for the whole process: the
	// one given last.
	Log *slog.Logger
}

// Store is a cache.Store in a Redis server.
type Store struct {
	client *goredis.Client
	prefix string
	where  string
	closed atomic.Bool
}

var _ cache.Store = (*Store)(nil)

// Open makes a store of the server at a URL, redis://user:password@host:port/0,
// rediss:// for TLS, or unix:// for a socket. It does not connect yet: a server
// that is down now may be up later. Neither its errors nor those of the store
// have the password.
func Open(url string, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = "warmpath"
	}
	if o.Timeout <= 0 {
		o.Timeout = 50 * time.Millisecond
	}
	options, err := goredis.ParseURL(url)
	if err != nil {
		// What is wrong with a URL is often that the password is in the wrong
		// place, so nothing of it is repeated.
		return nil, errors.New("redis: the store's address is no URL of a Redis server: write redis://host:6379/0 or rediss://user:password@host:6379/0, with %-escapes for special characters in the password")
	}
	tune(options, o.Timeout)
	goredis.SetLogger(newSampler(o.Log))
	return &Store{
		client: goredis.NewClient(options),
		prefix: o.Prefix + ":" + layout + ":",
		where:  where(options),
	}, nil
}

// tune sets what the library would otherwise do for the sake of requests that
// must succeed: it would wait for five seconds and try again three times.
func tune(o *goredis.Options, timeout time.Duration) {
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.DialTimeout = 4 * timeout // A new connection serves many requests.
	o.ReadTimeout = timeout
	o.WriteTimeout = timeout
	o.PoolTimeout = timeout
	o.PipelinePoolSize = -1 // One pool is enough, and half the connections.
	// Two questions less on every new connection.
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// Address is a server's URL without user and password, and empty for what is no
// URL of a server.
func Address(url string) string {
	options, err := goredis.ParseURL(url)
	if err != nil {
		return ""
	}
	return where(options)
}

func where(o *goredis.Options) string {
	scheme := "redis"
	switch {
	case o.Network == "unix":
		return "unix://" + o.Addr
	case o.TLSConfig != nil:
		scheme = "rediss"
	}
	return fmt.Sprintf("%s://%s/%d", scheme, o.Addr, o.DB)
}

// String is the server's address without user and password.
func (s *Store) String() string { return s.where }

// GetMany implements cache.Store with one MGET.
func (s *Store) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := cache.CheckKeys(keys...); err != nil {
		return nil, err
	}
	values := make([][]byte, len(keys))
	if len(keys) == 0 {
		return values, ctx.Err()
	}
	args := make([]any, 1, 1+len(keys))
	args[0] = "mget"
	for _, key := range keys {
		args = append(args, s.prefix+key)
	}
	found, err := s.client.Do(ctx, args...).Slice()
	if err != nil {
		return nil, s.failed(ctx, "reading", err)
	}
	if len(found) != len(keys) {
		return nil, fmt.Errorf("redis: asked for %d keys, the server answered with %d", len(keys), len(found))
	}
	for i, value := range found {
		if text, ok := value.(string); ok {
			values[i] = []byte(text)
		}
	}
	return values, nil
}

// Set implements cache.Store with one pipeline.
func (s *Store) Set(ctx context.Context, entries ...cache.Entry) error {
	if err := cache.CheckEntries(entries...); err != nil {
		return err
	}
	if len(entries) == 0 {
		return ctx.Err()
	}
	pipe := s.client.Pipeline()
	for i := range entries {
		e := &entries[i]
		if lives := lifetime(e.TTL); lives > 0 {
			pipe.Do(ctx, "set", s.prefix+e.Key, value(e), "px", lives)
		} else {
			pipe.Do(ctx, "del", s.prefix+e.Key)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return s.failed(ctx, "writing", err)
	}
	return nil
}

// swapScript compares and sets in one step on the server. Its arguments are
// whether there is an old value, the old value, the new one, and its lifetime
// in milliseconds.
var swapScript = goredis.NewScript(`
local now = redis.call('GET', KEYS[1])
if ARGV[1] == '0' then
  if now then return 0 end
elseif now ~= ARGV[2] then
  return 0
end
if ARGV[4] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
end
return 1
`)

// CompareAndSwap implements cache.Store. It takes a second round trip where the
// server does not know the script yet, which is after each start of the server.
func (s *Store) CompareAndSwap(ctx context.Context, old []byte, entry cache.Entry) (swapped bool, err error) {
	if err := cache.CheckEntries(entry); err != nil {
		return false, err
	}
	isOld := 1
	if old == nil {
		isOld, old = 0, []byte{}
	}
	done, err := swapScript.Run(ctx, s.client, []string{s.prefix + entry.Key}, isOld, old, value(&entry), lifetime(entry.TTL)).Int()
	if err != nil {
		return false, s.failed(ctx, "swapping", err)
	}
	return done == 1, nil
}

// Close implements cache.Store.
func (s *Store) Close() error {
	s.closed.Store(true)
	if err := s.client.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
		return fmt.Errorf("redis: closing: %w", err)
	}
	return nil
}

// value is an entry's value as an argument: nil is no argument that the library
// takes.
func value(e *cache.Entry) []byte {
	if e.Value == nil {
		return []byte{}
	}
	return e.Value
}

// lifetime is a TTL in milliseconds, rounded up; 0 for a dead entry.
func lifetime(ttl time.Duration) int64 {
	if ttl <= 0 {
		return 0
	}
	ms := ttl.Milliseconds()
	if ttl%time.Millisecond != 0 {
		ms++
	}
	return ms
}

// failed wraps an error of the library, after sorting out those that are not
// the server's.
func (s *Store) failed(ctx context.Context, doing string, err error) error {
	switch {
	case s.closed.Load(): // It closes connections that are in use.
		return cache.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("redis: %s: %w", doing, err)
}
