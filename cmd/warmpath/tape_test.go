package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warmpath/fixtures/session/habits"
)

// habitLog is the log of a habit, with the replies of a provider.
func habitLog(t *testing.T, name string) []byte {
	t.Helper()
	for _, h := range habits.Habits {
		if h.Name == name {
			log, err := habits.Answered(h.Log())
			if err != nil {
				t.Fatal(err)
			}
			return log
		}
	}
	t.Fatalf("there is no habit %q", name)
	return nil
}

// A log with replies becomes a tape, which is shown, and compared with another.
func TestTapeCommands(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(testdata, "testdata"); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string][]byte{
		"a.jsonl": habitLog(t, "nothing"), "b.jsonl": habitLog(t, "tools in another order"), "c.jsonl": habits.Story(),
		"d.jsonl": append(habitLog(t, "nothing"), habits.Habits[0].Log()...),
	} {
		if err := os.WriteFile(name, log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("full/of", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		golden string
		code   int
		args   []string
	}{
		{"import.txt", exitOK, []string{"import", "a.jsonl", "--out", "a"}},
		{"", exitOK, []string{"import", "--out", "a2", "a.jsonl"}},
		{"", exitOK, []string{"import", "b.jsonl", "--out", "b"}},
		{"lacks.txt", exitFailure, []string{"import", "c.jsonl", "--out", "c"}},
		{"left.txt", exitOK, []string{"import", "d.jsonl", "--out", "d", "--about", "Half of it."}},
		{"full.txt", exitFailure, []string{"import", "a.jsonl", "--out", "full"}},
		{"nowhere.txt", exitUsage, []string{"import", "a.jsonl"}},
		{"show.txt", exitOK, []string{"show", "a"}},
		{"show.json", exitOK, []string{"show", "--json", "a"}},
		{"none.txt", exitFailure, []string{"show", "none"}},
		{"same.txt", exitOK, []string{"diff", "a", "a2"}},
		{"diff.txt", exitFailure, []string{"diff", "a", "b"}},
		{"diff.json", exitFailure, []string{"diff", "a", "b", "--json"}},
		{"client.txt", exitFailure, []string{"diff", "--client", "b", "a/manifest.json"}},
		{"one.txt", exitUsage, []string{"diff", "a"}},
		{"unknown.txt", exitUsage, []string{"play", "a"}},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"tape"}, tc.args...), &stdout, &stderr); code != tc.code {
			t.Errorf("%v: exit code %d, want %d: %s", tc.args, code, tc.code, &stderr)
		}
		if tc.golden != "" {
			golden(t, filepath.Join("tape", tc.golden), stdout.String()+stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"tape", "show", "--full", "a"}, &stdout, &stderr); code != exitOK || strings.Count(stdout.String(), `"tool_use_id"`) < 4 {
		t.Errorf("with bodies: %d, %s", code, &stderr)
	}
}
