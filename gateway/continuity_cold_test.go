package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"warmpath/gateway/config"
)

// Many requests that begin alike are sent at once: straight, each writes the
// prefix; through, one does.
func TestOneRequestWritesAColdPrefix(t *testing.T) {
	t.Parallel()
	const workers = 5
	_, straight := simulated(t)
	_, origin := simulated(t)
	quiet := func(wait time.Duration) func(*config.Config) {
		return func(cfg *config.Config) { cfg.Quiet, cfg.Continuity.ColdWait = true, wait }
	}
	_, through, _ := start(t, origin, quiet(10*time.Second))
	_, impatient, _ := start(t, straight, quiet(0))
	body := func(key string, worker int) []byte {
		return fmt.Appendf(nil, `{"model":"claude-opus-4-8","max_tokens":100,"system":[{"type":"text","text":"%s %s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"part %d DO[first 500ms; say done]"}]}`,
			key, strings.Repeat("A rule of this house. ", 1000), worker)
	}
	for name, tt := range map[string]struct {
		base  string
		waits bool
	}{"straight": {straight, false}, "through": {through, true}, "not waiting": {impatient, false}} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var all sync.WaitGroup
			writes, reads := 0, 0
			for worker := range workers {
				all.Go(func() {
					status, answer, _ := postMessages(t, tt.base, t.Name(), body(t.Name(), worker))
					var reply struct {
						Usage struct {
							Written int `json:"cache_creation_input_tokens"`
							Read    int `json:"cache_read_input_tokens"`
						}
					}
					if err := json.Unmarshal(answer, &reply); err != nil || status != 200 {
						t.Errorf("status %d: %s", status, answer)
					}
					mu.Lock()
					defer mu.Unlock()
					if reply.Usage.Written > 0 {
						writes++
					}
					if reply.Usage.Read > 0 {
						reads++
					}
				})
			}
			all.Wait()
			if tt.waits != (writes == 1) || writes+reads != workers {
				t.Errorf("%d wrote the prefix and %d read it", writes, reads)
			}
		})
	}
}
