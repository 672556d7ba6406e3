package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/display"
)

func TestDisplay(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"IR-25 an unknown key": {"mode: on\ndisplay:\n  inline_results: {you: 1}\n", `warmpath.yaml:3:3: display.inline_results has "you"; write user or assistant`},
		"a chat for all":       {"display: {tools: {bash: {inline_results: chat}}}\n", `display.tools.bash.inline_results is chat for the assistant`},
		"a list":               {"display: {inline_results: [1]}\n", `display.inline_results is a list; write names and values`},
		"a word":               {"display: off\n", `display is a single value; write names and values`},
		"a secret for a name":  {"display: {tools: {\"x*sk-test-hunter2-hunter2\": {}}}\n", `display.tools.*** is not a pattern`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := given{file: c.file}.load(t)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestLoadDisplay(t *testing.T) {
	load := func(t *testing.T, file string) (display.Settings, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "warmpath.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadDisplay(NewSources(func(name string) (string, bool) {
			return path, name == "WARMPATH_CONFIG"
		}))
	}
	t.Run("what else is wrong is nothing to it", func(t *testing.T) {
		got, err := load(t, "listen: nowhere\nfoo: 1\nproviders: {lab: {key: file:/there/is/none}}\ndisplay: {inline_results: {user: 3}}\n")
		want := display.Settings{Every: display.Row{Results: &display.Results{User: 3, Assistant: 10}}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("its own faults", func(t *testing.T) {
		for _, file := range []string{"foo: 1\ndisplay: {reasoning: chat}\n", "display: {foo: 1}\n", "display: [\n"} {
			_, err := load(t, file)
			var problems Problems
			if !errors.As(err, &problems) || len(problems) != 1 || strings.Contains(err.Error(), "\nfoo") {
				t.Errorf("%q: %v", file, err)
			}
		}
	})
	t.Run("no file", func(t *testing.T) {
		got, err := LoadDisplay(NewSources(func(string) (string, bool) { return "", false }))
		if diff := cmp.Diff(display.Settings{}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		s := NewSources(func(string) (string, bool) { return "", false })
		s.File = filepath.Join(t.TempDir(), "none.yaml")
		if _, err := LoadDisplay(s); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v, want that the file is not there", err)
		}
	})
}
