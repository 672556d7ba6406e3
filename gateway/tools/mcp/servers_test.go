package mcp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestConfigureTouchesOnlyWhatChanges(t *testing.T) {
	var mu sync.Mutex
	var states []string
	watch := func(server string, state State) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, fmt.Sprint(server, " ", state))
	}
	seen := func() string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(states) // servers come and go side by side
		all := strings.Join(states, ", ")
		states = nil
		return all
	}
	s, _ := started(t, Options{Watch: watch})
	folder := t.TempDir()
	configs := func(names ...string) (all []Config) {
		for _, name := range names {
			kind, _, _ := strings.Cut(name, "-")
			all = append(all, program(kind, "plain", "NOTES="+filepath.Join(folder, name)))
		}
		return all
	}
	s.Configure(configs("b", "a"))
	s.Tools(t.Context(), []string{"a", "b"})
	if got := seen(); got != "a connecting, a up, b connecting, b up" {
		t.Error(got)
	}
	before, kept := s.Lists(), s.named("a")
	s.Configure(configs("c", "a", "b-other"))
	if s.Lists() == before || s.named("a") != kept {
		t.Error("a server that has not changed was changed, or the lists are the old ones")
	}
	s.Tools(t.Context(), []string{"a", "b", "c"})
	var gone []string
	until(t, "the old b is gone", func() bool { gone = append(gone, seen()); return strings.Contains(strings.Join(gone, " "), "b gone") })
	if got := strings.Join(gone, ", "); strings.Contains(got, "a ") || !strings.Contains(got, "b up") || !strings.Contains(got, "c up") {
		t.Error(got)
	}
	var names []string
	for _, tool := range s.Tools(t.Context(), []string{"c", "a", "nobody"}) {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "mcp__a__echo mcp__c__echo" {
		t.Errorf("the tools are %s", got)
	}
	seen()
	s.Configure(nil)
	s.Stop()
	if got := seen(); got != "a gone, b gone, c gone" || len(s.Status()) > 0 {
		t.Error(got)
	}
	s.Configure(configs("a"))
	if len(s.Status()) > 0 {
		t.Error("a server was started after the end")
	}
}
