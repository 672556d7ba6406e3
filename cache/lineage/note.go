package lineage

import (
	"context"
	"fmt"

	"warmpath/cache"
)

// Note keeps what a reply held, each under a history sealed by its id.
func (l *Lineage) Note(ctx context.Context, notes map[Head][]byte) error {
	entries := make([]cache.Entry, 0, len(notes))
	for head, note := range notes {
		entries = append(entries, cache.Entry{Key: noteKey(head), Value: note, TTL: l.ttl})
	}
	if err := l.store.Set(ctx, entries...); err != nil {
		return fmt.Errorf("keeping parts of a reply: %w", err)
	}
	return nil
}

// Notes reads what was kept so; nil where there is nothing.
func (l *Lineage) Notes(ctx context.Context, heads ...Head) ([][]byte, error) {
	keys := make([]string, len(heads))
	for i, head := range heads {
		keys[i] = noteKey(head)
	}
	values, err := l.store.GetMany(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("reading parts of replies: %w", err)
	}
	return values, nil
}
