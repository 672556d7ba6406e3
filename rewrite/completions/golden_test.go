package completions_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what the golden files expect")

// golden is a file of sections, each under a line "-- name --", after some lines
// that say what the case is about.
type golden struct {
	path     string
	names    []string
	sections map[string]string
}

func loadGolden(t testing.TB, path string) *golden {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{path: path, names: []string{""}, sections: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(name, " --\n") {
			g.names = append(g.names, strings.TrimSuffix(name, " --\n"))
			continue
		}
		g.sections[g.names[len(g.names)-1]] += line
	}
	return g
}

// want compares a section with what there is, or takes it over.
func (g *golden) want(t *testing.T, name, got string) {
	t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if *update {
		if _, ok := g.sections[name]; !ok && got != "" {
			g.names = append(g.names, name)
		}
		g.sections[name] = got
		var b strings.Builder
		for _, name := range g.names {
			if name != "" {
				b.WriteString("-- " + name + " --\n")
			}
			b.WriteString(g.sections[name])
		}
		if err := os.WriteFile(g.path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(g.sections[name], got); diff != "" {
		t.Errorf("%s (-want +got): %s", name, diff)
	}
}

// eachGolden runs f for every golden file of a folder.
func eachGolden(t *testing.T, folder string, f func(t *testing.T, g *golden)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("golden files of %s: %d, %v", folder, len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { f(t, loadGolden(t, path)) })
	}
}
