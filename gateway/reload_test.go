package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/config"
)

// What needs a restart is said again with each reload until there was one.
func TestReloadSaysWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	var given config.Config
	g, _, _ := start(t, "http://127.0.0.1:1", func(cfg *config.Config) { given = *cfg })
	moved := given
	moved.Limits.Connections++
	want := []string{"limits.connections changes only with a restart"}
	for range 2 {
		if diff := cmp.Diff(want, g.Reload(&moved)); diff != "" {
			t.Error(diff)
		}
	}
	back := given
	if unchanged := g.Reload(&back); unchanged != nil {
		t.Errorf("as it was at first: %v", unchanged)
	}
}
