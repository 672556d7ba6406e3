// Package verdicts remembers what was decided of the results of tools when they were
// first sent to a provider, so that it is done again with every request that has them:
// a history is never filtered by another policy than the one it was made under. It
// keeps hashes, and nothing of a result.
package verdicts

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"warmpath/cache"
)

// Verdict is what was decided of a result.
type Verdict byte

// The verdicts: a result is filtered for the provider, or passed on as it came.
const (
	Filter Verdict = 'f'
	Pass   Verdict = 'p'
)

// batch is how many verdicts are asked for at once: a store has a deadline for each of
// its answers.
const batch = 512

// Verdicts keeps them in a store. It is safe for concurrent use.
type Verdicts struct {
	store cache.Store
	life  time.Duration
}

// New keeps verdicts in a store, each for the given time after it was last of use, or
// for half of that; or for less if the store does.
func New(store cache.Store, life time.Duration) *Verdicts { return &Verdicts{store, life} }

// Decided is what was decided of some results.
type Decided struct {
	// Verdicts has one for each of them; New says which are given for the first time.
	Verdicts []Verdict
	New      []bool
	// renew are the entries to write.
	renew []cache.Entry
}

// Decide looks up what was decided of a tenant's results, by their keys. Whatever was
// not is decided now, each as it is given. Where the store does not answer, all of it is, and the error
// says why it did not.
func (v *Verdicts) Decide(ctx context.Context, tenant string, results [][16]byte, now []Verdict, at time.Time) (*Decided, error) {
	d := &Decided{Verdicts: make([]Verdict, len(results)), New: make([]bool, len(results))}
	for i := range results {
		d.Verdicts[i], d.New[i] = now[i], true
	}
	seen := map[[16]byte]bool{}
	for from := 0; from < len(results); from += batch {
		some := results[from:min(from+batch, len(results))]
		keys := make([]string, len(some))
		for i, result := range some {
			keys[i] = keyOf(tenant, result)
		}
		values, err := v.store.GetMany(ctx, keys...)
		if err != nil {
			return d, fmt.Errorf("looking up verdicts: %w", err)
		}
		for i, value := range values {
			verdict, given, ok := read(value)
			if ok {
				d.Verdicts[from+i], d.New[from+i] = verdict, false
			}
			if seen[some[i]] {
				d.New[from+i] = false
				continue
			}
			if seen[some[i]] = true; !ok || at.Sub(given) > v.life/2 {
				d.renew = append(d.renew, cache.Entry{Key: keys[i], Value: valueOf(d.Verdicts[from+i], at), TTL: v.life})
			}
		}
	}
	return d, nil
}

// Keep remembers what was decided: it is about to be sent.
func (v *Verdicts) Keep(ctx context.Context, d *Decided) error {
	if len(d.renew) == 0 {
		return nil
	}
	if err := v.store.Set(ctx, d.renew...); err != nil {
		return fmt.Errorf("keeping verdicts: %w", err)
	}
	return nil
}

// keyOf hides tenant and result. Neither can be made to look like the other.
func keyOf(tenant string, result [16]byte) string {
	digest := sha256.New()
	digest.Write(result[:])
	digest.Write([]byte(tenant))
	return "v1:" + string(digest.Sum(nil)[:16])
}

// valueOf is a verdict with the time when it was given or of use, in seconds.
func valueOf(verdict Verdict, at time.Time) []byte {
	return binary.AppendVarint([]byte{byte(verdict)}, at.Unix())
}

// read reads it; ok is false for what is none.
func read(value []byte) (verdict Verdict, given time.Time, ok bool) {
	if len(value) < 2 || value[0] != byte(Filter) && value[0] != byte(Pass) {
		return 0, time.Time{}, false
	}
	seconds, n := binary.Varint(value[1:])
	return Verdict(value[0]), time.Unix(seconds, 0), n > 0
}
