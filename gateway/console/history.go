package console

import (
	"sync"
	"time"
)

// span is how far back the history goes, in minutes.
const span = 60

// history is what the cache did with the input of the last hour, minute by minute. The
// metrics only count up: what they have grown by since they were looked at last belongs
// to the minute in which that is seen. It is safe for concurrent use.
type history struct {
	mu      sync.Mutex
	minutes [span]minute // by their number modulo span
	counted map[modelName]cacheTokens
	broken  int64
}

// modelName is a model of a provider.
type modelName struct{ provider, model string }

// minute is what happened in one.
type minute struct {
	number int64 // since 1970
	cache  cacheTokens
	models map[modelName]cacheTokens
	breaks int64
}

// at is when the minute begins.
func (m *minute) at() time.Time { return time.Unix(m.number*60, 0).UTC() }

// note takes into account how far the metrics have come.
func (h *history) note(now time.Time, n *numbers) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.minute(now.Unix() / 60)
	if h.counted == nil {
		h.counted = map[modelName]cacheTokens{}
	}
	for i := range n.Models {
		name := modelName{n.Models[i].Provider, n.Models[i].Model}
		grown := n.Models[i].Cache.since(h.counted[name])
		h.counted[name] = n.Models[i].Cache
		if grown.total() == 0 {
			continue
		}
		m.cache = m.cache.plus(grown)
		if m.models == nil {
			m.models = map[modelName]cacheTokens{}
		}
		m.models[name] = m.models[name].plus(grown)
	}
	broken := int64(0)
	for i := range n.Misses {
		broken += n.Misses[i].Tokens
	}
	m.breaks += max(broken-h.broken, 0)
	h.broken = broken
}

// minute is the one of a number, which begins empty.
func (h *history) minute(number int64) *minute {
	m := &h.minutes[number%span]
	if m.number != number {
		*m = minute{number: number}
	}
	return m
}

// hour lists the minutes up to now, the oldest first.
func (h *history) hour(now time.Time) []minute {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := now.Unix() / 60
	list := make([]minute, 0, span)
	for number := last - span + 1; number <= last; number++ {
		m := minute{number: number}
		if kept := &h.minutes[number%span]; kept.number == number {
			m = *kept
			m.models = make(map[modelName]cacheTokens, len(kept.models))
			for name, tokens := range kept.models {
				m.models[name] = tokens
			}
		}
		list = append(list, m)
	}
	return list
}

func (c cacheTokens) plus(d cacheTokens) cacheTokens {
	return cacheTokens{c.Read + d.Read, c.Write + d.Write, c.Fresh + d.Fresh}
}

// since is what has been counted since then; counters that have begun anew have
// counted all of it.
func (c cacheTokens) since(before cacheTokens) cacheTokens {
	d := cacheTokens{c.Read - before.Read, c.Write - before.Write, c.Fresh - before.Fresh}
	if d.Read < 0 || d.Write < 0 || d.Fresh < 0 {
		return c
	}
	return d
}

// sum is what happened in the minutes together.
func sum(minutes []minute) (all cacheTokens) {
	for i := range minutes {
		all = all.plus(minutes[i].cache)
	}
	return all
}
