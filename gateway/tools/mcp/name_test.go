package mcp

import (
	"regexp"
	"strings"
	"testing"
)

func TestToolNames(t *testing.T) {
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	long := strings.Repeat("l", 70)
	seen := map[string]string{}
	for _, tc := range []struct{ server, tool, want string }{
		{"files", "read_file", "mcp__files__read_file"},
		{"files", "read.file", "mcp__files__read_file_a3e8c4a1"},
		{"files", "read/file", ""},
		{"files", "Größe", ""},
		{"files", long, ""},
		{"files", long + "2", ""},
		{"files", "", "mcp__files__"},
		{strings.Repeat("s", 32), long, ""},
	} {
		got := toolName(tc.server, tc.tool)
		if !legal.MatchString(got) || tc.want != "" && !strings.HasPrefix(got, tc.want[:min(len(tc.want), 22)]) || got != toolName(tc.server, tc.tool) {
			t.Errorf("%s of %s is called %s", tc.tool, tc.server, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q are both called %s", other, tc.tool, got)
		}
		seen[got] = tc.tool
	}
}

func TestServerNames(t *testing.T) {
	for name, want := range map[string]bool{
		"files": true, "a": true, "git-hub_2": true, "": false, "a__b": false, "_a": false, "a_": false, "A": false, "a b": false, "ä": false, "-a": false, "other": false,
		strings.Repeat("a", 32): true, strings.Repeat("a", 33): false,
	} {
		if ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestFilter(t *testing.T) {
	c := Config{Tools: []string{"read_*", "list"}}
	for tool, want := range map[string]bool{"read_file": true, "read_": true, "read": false, "list": true, "list_all": false} {
		if c.takes(tool) != want {
			t.Errorf("%q: %v", tool, !want)
		}
	}
	if !(&Config{}).takes("any") {
		t.Error("an empty list takes nothing")
	}
}
