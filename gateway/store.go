package gateway

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"warmpath/cache"
	"warmpath/cache/disk"
	"warmpath/cache/eventlog"
	"warmpath/cache/redis"
	"warmpath/gateway/config"
	"warmpath/gateway/prompt"
)

const (
	// memoryBytes bounds a store of memory, and conversationLife for how long
	// nothing may be heard of a conversation until it is forgotten.
	memoryBytes      = 128 << 20
	conversationLife = 24 * time.Hour
	// verdictLife is for how long what was decided of a tool's result holds: as long
	// as replies are kept that hold the result.
	verdictLife = 60 * 24 * time.Hour
)

// openTranscripts opens the log of conversations; nil where none is kept.
func openTranscripts(cfg *config.Config, log *slog.Logger) (*eventlog.Log, error) {
	limits := eventlog.Limits{Bytes: cfg.Log.Size, Age: cfg.Log.Age}
	switch cfg.Log.Events {
	case config.KeptInMemory:
		return eventlog.NewMemory(limits), nil
	case config.KeptOnDisk:
		kept, err := eventlog.Open(filepath.Join(cfg.Data, "conversations"), limits, func(err error) { log.Warn("the log of conversations", "cause", err) })
		if err != nil {
			return nil, fmt.Errorf("opening the log of conversations: %w; choose another folder with --data, or --log-events memory", err)
		}
		return kept, nil
	case config.KeptNowhere:
	}
	return nil, nil //nolint:nilnil // there is none
}

// openStore opens what conversations are remembered in.
func openStore(cfg *config.Config, log *slog.Logger) (cache.Store, error) {
	if !cfg.Store.IsZero() {
		store, err := redis.Open(cfg.Store.Reveal(), redis.Options{Log: log})
		if err != nil {
			return nil, fmt.Errorf("opening the store: %w; give --store a redis:// address", err)
		}
		return store, nil
	}
	if cfg.Data == config.DataMemory || cfg.Data == "" {
		return cache.NewMemory(memoryBytes), nil
	}
	store, err := disk.Open(cfg.Data, disk.Options{Warn: func(err error) { log.Warn("the store", "cause", err) }})
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w; choose another folder with --data, or --data memory", err)
	}
	return store, nil
}

// boardOf is what gateways that share a store share besides; nil for a store of one.
func boardOf(store cache.Store) prompt.Board {
	if shared, ok := store.(*redis.Store); ok {
		return shared.Board()
	}
	return nil
}
