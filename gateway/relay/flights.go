package relay

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"warmpath/cache/lineage"
	"warmpath/rewrite/continuity"
)

const (
	// worthwhile is how many bytes a request must be able to read from the cache
	// by waiting: about the shortest prefix that providers keep at all.
	worthwhile = 4 << 10
	// staysWarm is how long providers keep what was read or written last, at
	// least.
	staysWarm = 5 * time.Minute
	// maxWarm bounds how many prefixes are known to be warm.
	maxWarm = 16 << 10
)

// prefix is the beginning of a prompt up to a mark, with its length in bytes.
type prefix struct {
	key  lineage.Head
	size int
}

// prefixes are those of a request that end at marks of the client's, shortest
// first. Only there does one request find what another has written.
func prefixes(heads []lineage.Head, facts *continuity.Facts) []prefix {
	var found []prefix
	size, marked := 0, false
	digest := sha256.New()
	digest.Write(heads[0][:])
	for i := range facts.Tools {
		digest.Write(facts.Tools[i].Exact[:])
		size += facts.Tools[i].Span.Len()
		marked = marked || facts.Tools[i].Mark.Len() > 0
	}
	for i := range facts.Sections {
		digest.Write(facts.Sections[i].Exact[:])
		size += facts.Sections[i].Span.Len()
		marked = marked || facts.Sections[i].Mark.Len() > 0
	}
	list := lineage.Head(digest.Sum(nil)[:16])
	if marked {
		found = append(found, prefix{list, size})
	}
	for i := range facts.Messages {
		size += facts.Messages[i].Span.Len()
		if facts.Messages[i].Marks > 0 || facts.Automatic && i == len(facts.Messages)-1 {
			whole := sha256.Sum256(slices.Concat(list[:], heads[i+1][:]))
			found = append(found, prefix{lineage.Head(whole[:16]), size})
		}
	}
	return found
}

// flights has requests wait that share a cold prefix with one that is on its
// way: a provider can read a prefix from its cache only once it has begun to
// answer the request that wrote it. Flights of other gateways are not seen.
type flights struct {
	mu   sync.Mutex
	open map[lineage.Head]*flight
	warm map[lineage.Head]time.Time // and until when
}

// flight is a request on its way. Warm is set before done is closed, if the
// provider has begun to answer.
type flight struct {
	done chan struct{}
	warm bool
}

// boarded is a request that has left. It must land; only the first time counts.
type boarded struct {
	flights  *flights
	prefixes []prefix
	leads    []lineage.Head
	own      *flight
}

// board waits, for no longer than the given time, while another request with
// the same cold prefix is on its way. When that fails nobody waits for the next:
// all fail as fast as they would alone. It reports whether it has waited.
func (f *flights) board(ctx context.Context, prefixes []prefix, patience time.Duration) (b boarded, waited bool) {
	if len(prefixes) == 0 || prefixes[len(prefixes)-1].size < worthwhile {
		return boarded{}, false
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		other := f.leave(prefixes, &b)
		if other == nil {
			return b, waited
		}
		waited = true
		select {
		case <-other.done:
			if other.warm {
				continue
			}
		case <-timeout.C:
		case <-ctx.Done():
		}
		return boarded{flights: f, prefixes: prefixes}, true
	}
}

// leave gives the flight to wait for. If there is none, the request leads for
// all of its prefixes that are cold and have no flight.
func (f *flights) leave(prefixes []prefix, b *boarded) (other *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, known := time.Now(), 0
	for _, p := range prefixes {
		if f.warm[p.key].After(now) {
			known = p.size
		}
	}
	for _, p := range prefixes {
		if open := f.open[p.key]; open != nil && p.size-known >= worthwhile {
			other = open
		}
	}
	if other != nil {
		return other
	}
	*b = boarded{flights: f, prefixes: prefixes, own: &flight{done: make(chan struct{})}}
	for _, p := range prefixes {
		if f.open[p.key] == nil && p.size > known {
			if f.open == nil {
				f.open = map[lineage.Head]*flight{}
			}
			f.open[p.key] = b.own
			b.leads = append(b.leads, p.key)
		}
	}
	return nil
}

// land lets those go that wait for the request. Warm says that the provider has
// begun to answer.
func (b *boarded) land(warm bool) {
	f := b.flights
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.flights = nil
	for _, key := range b.leads {
		delete(f.open, key)
	}
	if b.own != nil {
		b.own.warm = warm
		close(b.own.done)
	}
	if !warm {
		return
	}
	now := time.Now()
	if len(f.warm)+len(b.prefixes) > maxWarm {
		f.forget(now)
	}
	if f.warm == nil {
		f.warm = map[lineage.Head]time.Time{}
	}
	for _, p := range b.prefixes {
		f.warm[p.key] = now.Add(staysWarm)
	}
}

// forget drops what has gone cold, or everything if that is not enough: to take
// a warm prefix for a cold one costs a short wait.
func (f *flights) forget(now time.Time) {
	for key, until := range f.warm {
		if !until.After(now) {
			delete(f.warm, key)
		}
	}
	if len(f.warm) > maxWarm/2 {
		clear(f.warm)
	}
}
