package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoad gives the loader any file. It must not panic, must report problems
// as such, and what it accepts must explain itself in a form that loads again
// and explains itself the same.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", explained, "mode: off", "a: [1, {b: c}]", "listen: &a x\nadmin: *a", "? a\n: b", "- a\n-", "x: |\n  y\n",
		"limits: {<<: {body: 1MiB}}", "---\n...\n---\nmode: on", "%YAML 1.2\n---\nmode: on", "!!map {mode: on}", "\"\\x\"", "mode:\ton",
		"providers: {lab: {base_url: http://x, dialects: [chat]}}", "aliases: {a: b, b: c}", "\ufeffmode: on", "[[[[[[", "'", "*", "{? ",
	} {
		f.Add(seed)
	}
	env := map[string]string{"ACCESS": "x", "HOME": "/home/me"}
	f.Fuzz(func(t *testing.T, file string) {
		c, err := given{file: file, env: env}.load(t)
		var problems Problems
		if err != nil {
			if !errors.As(err, &problems) || len(problems) == 0 || err.Error() == "" {
				t.Fatalf("an error without problems: %v", err)
			}
			return
		}
		first, err := c.Explain()
		if err != nil {
			t.Fatal(err)
		}
		again, err := given{file: string(first)}.load(t)
		if err != nil {
			t.Fatalf("explained as\n%s\nwhich does not load: %v", first, err)
		}
		second, err := again.Explain()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(second)); diff != "" {
			t.Fatal(diff)
		}
	})
}
