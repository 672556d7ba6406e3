package lineage

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"warmpath/cache"
	"warmpath/rewrite/continuity"
)

const (
	// keptLonger is how much longer elements and parts are kept than the states
	// that need them, which are written anew with every request.
	keptLonger = 7
	// rewritten is after what time they are written again: a store that is full
	// drops what it has had for long.
	rewritten = 10 * time.Minute
)

// writing gathers what is to be written in one round trip.
type writing struct {
	l       *Lineage
	now     time.Time
	losses  int // that had been seen when this began
	entries []cache.Entry
	apart   int // the number of entries, at the beginning, that are noted as recent
}

func (l *Lineage) writing() *writing { return &writing{l: l, now: time.Now(), losses: l.recent.seen()} }

// due reports whether what stands under its own hash has to be written: not if
// that was done just now, or is about to be.
func (w *writing) due(key string) bool {
	return !slices.ContainsFunc(w.entries, func(e cache.Entry) bool { return e.Key == key }) &&
		!w.l.recent.writtenSince(key, w.now.Add(-min(rewritten, w.l.ttl)))
}

// keep adds what stands under its own hash.
func (w *writing) keep(key string, value []byte) {
	w.entries = append(w.entries, cache.Entry{Key: key, Value: value, TTL: keptLonger * w.l.ttl})
	w.apart = len(w.entries)
}

// elements adds elements under their hashes. What is too long to be kept costs an
// epoch once it is needed.
func (w *writing) elements(keep map[continuity.Hash][]byte) {
	for hash, element := range keep {
		if key := elementKey(hash); len(element) <= cache.MaxValue && w.due(key) {
			w.keep(key, element)
		}
	}
}

// record is a state as it is written, with its parts kept. When a part is due,
// so are the elements that the state needs, as far as they are at hand: no request
// that only goes on brings them again.
func (w *writing) record(s *continuity.State) ([]byte, error) {
	parts, due := 0, 0
	record := encode(s, func(hash continuity.Hash, part []byte) {
		parts++
		if key := partKey(hash); w.due(key) {
			due++
			w.keep(key, bytes.Clone(part))
		}
	})
	if len(record) > maxState {
		return nil, fmt.Errorf("writing a state of %d bytes, where %d is the most: %w", len(record), maxState, cache.ErrTooLarge)
	}
	if due > 0 || parts == 0 {
		w.again(s)
	}
	return record, nil
}

// again adds the elements of a state that are at hand and due.
func (w *writing) again(s *continuity.State) {
	add := func(hash continuity.Hash) {
		key := elementKey(hash)
		if value := w.l.recent.get(key); value != nil && w.due(key) {
			w.keep(key, value)
		}
	}
	for i := range s.Tools {
		add(s.Tools[i].Exact)
	}
	for i := range s.Sections {
		add(s.Sections[i].Exact)
	}
	for i := range s.Text {
		add(s.Text[i].Text)
	}
	for i := range s.Echoes {
		if s.Echoes[i].Kept {
			add(s.Echoes[i].Exact)
		}
	}
}

func (w *writing) write(ctx context.Context) error {
	if len(w.entries) == 0 {
		return nil
	}
	if err := w.l.store.Set(ctx, w.entries...); err != nil {
		return err
	}
	for _, e := range w.entries[:w.apart] {
		w.l.recent.put(e.Key, e.Value, w.now, w.losses)
	}
	return nil
}

// Kept reads elements by their hashes; what is lost is missing. The caller must
// not change them.
func (l *Lineage) Kept(ctx context.Context, hashes ...continuity.Hash) (map[continuity.Hash][]byte, error) {
	kept, err := l.read(ctx, elementKey, hashes)
	if err != nil {
		return nil, fmt.Errorf("reading kept elements: %w", err)
	}
	return kept, nil
}

// read gets what stands under hashes, and asks the store only for what is not
// at hand.
func (l *Lineage) read(ctx context.Context, key func(continuity.Hash) string, hashes []continuity.Hash) (map[continuity.Hash][]byte, error) {
	found := make(map[continuity.Hash][]byte, len(hashes))
	var keys []string
	var missing []continuity.Hash
	for _, hash := range hashes {
		if value := l.recent.get(key(hash)); value != nil {
			found[hash] = value
			continue
		}
		keys, missing = append(keys, key(hash)), append(missing, hash)
	}
	if len(keys) == 0 {
		return found, nil
	}
	values, err := l.store.GetMany(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if value == nil {
			// What is at hand here is not read there, and so is dropped before this.
			l.recent.lost(time.Now(), lossPause)
			continue
		}
		found[missing[i]] = value
		l.recent.put(keys[i], value, time.Time{}, 0)
	}
	return found, nil
}

// states reads the states of a value, oldest first. One that another version has
// written, or of which a part is gone, is as if lost.
func (l *Lineage) states(ctx context.Context, value []byte) ([]*continuity.State, error) {
	records := split(value)
	states := make([]*continuity.State, 0, len(records))
	at := make(map[continuity.Hash][]byte)
	known := func(hash continuity.Hash) []byte {
		if part, asked := at[hash]; asked {
			return part
		}
		return l.recent.get(partKey(hash))
	}
	// Parts hold parts: a round for the first, one for theirs, and one to read
	// what has come.
	const rounds = 3
	for round := range rounds {
		var missing []continuity.Hash
		states = states[:0]
		for _, record := range records {
			s, lacks, ok := decode(record, known)
			if ok && len(lacks) == 0 {
				states = append(states, s)
			}
			for _, hash := range lacks {
				if _, asked := at[hash]; !asked {
					missing = append(missing, hash)
				}
			}
		}
		if len(missing) == 0 || round == rounds-1 {
			break
		}
		parts, err := l.read(ctx, partKey, missing)
		if err != nil {
			return nil, fmt.Errorf("reading the parts of states: %w", err)
		}
		for _, hash := range missing {
			at[hash] = parts[hash]
		}
	}
	return states, nil
}
