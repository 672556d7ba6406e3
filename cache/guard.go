package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Op names an operation of a store, as a metric label has it.
type Op string

// The operations that Guard counts.
const (
	OpGet  Op = "get"
	OpSet  Op = "set"
	OpSwap Op = "swap"
)

// Ops lists every Op.
func Ops() []Op { return []Op{OpGet, OpSet, OpSwap} }

// Reason says why Guard went on without the store, as a metric label has it.
type Reason string

// The reasons for going on without the store.
const (
	ReasonTimeout Reason = "timeout" // no answer within the deadline
	ReasonError   Reason = "error"   // the store's answer was an error
	ReasonOpen    Reason = "open"    // not asked: it had failed too often
	ReasonBusy    Reason = "busy"    // not asked: too many calls were waiting for it
)

// Reasons lists every Reason.
func Reasons() []Reason { return []Reason{ReasonTimeout, ReasonError, ReasonOpen, ReasonBusy} }

// GuardOptions are the limits that Guard keeps. Where a field is zero its
// default holds.
type GuardOptions struct {
	// Deadline is how long one operation may take; 50 ms by default.
	Deadline time.Duration
	// Failures is how many operations must fail in a row until the store is
	// left alone; 5 by default. Reads and writes are counted apart: a full
	// disk can still be read.
	Failures int
	// Probe is the time between two tries whether the store is back; 1 s by
	// default.
	Probe time.Duration
	// Parallel is how many operations may be under way at once; 256 by
	// default. It bounds what piles up behind a store that hangs.
	Parallel int
	// OnFailure, if set, is called once for each operation that went on
	// without the store. It must not block.
	OnFailure func(op Op, reason Reason)
	// OnAnswer, if set, is called with the time that an operation took which the
	// store has answered. It must not block.
	OnAnswer func(op Op, took time.Duration)
}

// Guard is a Store that takes another one's word only if it comes in time. No
// operation takes longer than the deadline, even if the store ignores its
// context, and after several failures in a row none takes any time at all,
// until a probe in the background has found the store well again. Its errors
// wrap ErrUnavailable, except ErrTooLarge, ErrClosed and that of the caller's
// own context, which are not the store's fault and not counted.
type Guard struct {
	store   Store
	options GuardOptions
	reads   breaker
	writes  breaker
	slots   chan struct{}
	// quick stores are asked at once: they have nothing to wait for.
	quick bool
}

var _ Store = (*Guard)(nil)

// NewGuard puts a guard before a store, which it closes when it is closed.
func NewGuard(store Store, o GuardOptions) *Guard {
	if o.Deadline <= 0 {
		o.Deadline = 50 * time.Millisecond
	}
	if o.Failures <= 0 {
		o.Failures = 5
	}
	if o.Probe <= 0 {
		o.Probe = time.Second
	}
	if o.Parallel <= 0 {
		o.Parallel = 256
	}
	if o.OnFailure == nil {
		o.OnFailure = func(Op, Reason) {}
	}
	if o.OnAnswer == nil {
		o.OnAnswer = func(Op, time.Duration) {}
	}
	_, quick := store.(*Memory)
	return &Guard{
		quick:   quick,
		store:   store,
		options: o,
		reads:   breaker{limit: o.Failures, pause: o.Probe},
		writes:  breaker{limit: o.Failures, pause: o.Probe},
		slots:   make(chan struct{}, o.Parallel),
	}
}

// GetMany implements Store.
func (g *Guard) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := g.admit(OpGet); err != nil {
		return nil, err
	}
	// What the caller may change later is copied: a store that comes too late
	// would still read it.
	if !g.quick {
		keys = slices.Clone(keys)
	}
	return ask(ctx, g, OpGet, func(ctx context.Context) ([][]byte, error) {
		return g.store.GetMany(ctx, keys...)
	})
}

// Set implements Store.
func (g *Guard) Set(ctx context.Context, entries ...Entry) error {
	if err := g.admit(OpSet); err != nil {
		return err
	}
	if !g.quick {
		entries = slices.Clone(entries)
		for i := range entries {
			entries[i].Value = bytes.Clone(entries[i].Value)
		}
	}
	_, err := ask(ctx, g, OpSet, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, g.store.Set(ctx, entries...)
	})
	return err
}

// CompareAndSwap implements Store. After an error the swap may have happened.
func (g *Guard) CompareAndSwap(ctx context.Context, old []byte, entry Entry) (swapped bool, err error) {
	if err := g.admit(OpSwap); err != nil {
		return false, err
	}
	if !g.quick {
		old, entry.Value = bytes.Clone(old), bytes.Clone(entry.Value)
	}
	return ask(ctx, g, OpSwap, func(ctx context.Context) (bool, error) {
		return g.store.CompareAndSwap(ctx, old, entry)
	})
}

// Close closes the store behind the guard.
func (g *Guard) Close() error { return g.store.Close() }

// Open reports whether reads or writes are kept from the store at present.
func (g *Guard) Open() (reads, writes bool) { return g.reads.isOpen(), g.writes.isOpen() }

// admit takes a slot for an operation, or says why the store is not asked.
func (g *Guard) admit(op Op) error {
	b := g.breaker(op)
	if call, probe := b.allow(); !call {
		if probe {
			go g.probe(op, b)
		}
		return g.without(op, ReasonOpen, nil)
	}
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
		return g.without(op, ReasonBusy, nil)
	}
}

type answer[T any] struct {
	value T
	err   error
}

// ask does an admitted operation, in a goroutine of its own: a read from a disk
// that hangs does not end with its context. Memory fails only when it is closed.
func ask[T any](ctx context.Context, g *Guard, op Op, do func(context.Context) (T, error)) (T, error) {
	began := time.Now()
	if g.quick {
		defer func() { <-g.slots }()
		value, err := do(ctx)
		if err == nil {
			g.options.OnAnswer(op, time.Since(began))
		}
		return value, err
	}
	limited, cancel := context.WithTimeout(ctx, g.options.Deadline)
	defer cancel()
	answers := make(chan answer[T], 1)
	go func() {
		defer func() { <-g.slots }()
		value, err := do(limited)
		answers <- answer[T]{value, err}
	}()
	var a answer[T]
	select {
	case a = <-answers:
	case <-limited.Done():
		a.err = limited.Err()
	}
	switch {
	case a.err == nil:
		g.breaker(op).succeeded()
		g.options.OnAnswer(op, time.Since(began))
		return a.value, nil
	case errors.Is(a.err, ErrTooLarge), errors.Is(a.err, ErrClosed):
		return a.value, a.err
	case ctx.Err() != nil:
		return a.value, ctx.Err()
	}
	g.breaker(op).failed()
	var none T
	return none, g.without(op, reasonOf(a.err), a.err)
}

func (g *Guard) breaker(op Op) *breaker {
	if op == OpGet {
		return &g.reads
	}
	return &g.writes
}

// probeKey begins with a byte that keys made of text do not have.
const probeKey = "\x00probe"

// probe finds out whether the store is well again. No request waits for it.
func (g *Guard) probe(op Op, b *breaker) {
	ctx, cancel := context.WithTimeout(context.Background(), g.options.Deadline)
	defer cancel()
	var err error
	if op == OpGet {
		_, err = g.store.GetMany(ctx, probeKey)
	} else {
		err = g.store.Set(ctx, Entry{Key: probeKey, TTL: time.Minute})
	}
	b.probed(err == nil && ctx.Err() == nil)
}

// without counts an operation that goes on without the store and gives its
// error.
func (g *Guard) without(op Op, reason Reason, err error) error {
	g.options.OnFailure(op, reason)
	if err != nil {
		return fmt.Errorf("%w: %s: %s: %w", ErrUnavailable, op, reason, err)
	}
	return fmt.Errorf("%w: %s: %s", ErrUnavailable, op, reason)
}

func reasonOf(err error) Reason {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return ReasonTimeout
	}
	return ReasonError
}
