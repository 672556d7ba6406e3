package gateway

import (
	"fmt"
	"log/slog"
	"time"

	"warmpath/cache"
	"warmpath/cache/disk"
	"warmpath/cache/redis"
	"warmpath/gateway/config"
)

const (
	// memoryBytes bounds a store of memory, and conversationLife for how long
	// nothing may be heard of a conversation until it is forgotten.
	memoryBytes      = 128 << 20
	conversationLife = 24 * time.Hour
)

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
