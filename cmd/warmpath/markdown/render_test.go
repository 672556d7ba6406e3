package markdown_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/cmd/warmpath/markdown"
	"warmpath/rewrite/printable"
)

var update = flag.Bool("update", false, "write the golden files")

func TestRender(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "all.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]markdown.Options{
		"plain.txt":     {Width: 60},
		"colour.txt":    {Width: 60, Colour: true},
		"narrow.txt":    {Width: 1, Colour: true},
		"visualise.txt": {Controls: printable.Visualise},
	} {
		t.Run(name, func(t *testing.T) {
			got := markdown.Render(string(source), options)
			// Escapes are written as such, so that a golden file can be read.
			readable := strings.ReplaceAll(got, "\x1b", "<ESC>")
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(readable), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), readable); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderLinks(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a page":                    {"[a](https://example.com/x)", "a (https://example.com/x)\n"},
		"an address for its text":   {"[https://example.com/x](https://example.com/x)", "https://example.com/x\n"},
		"an address as another":     {"[https://good.example](https://evil.example)", "https://good.example (https://evil.example)\n"},
		"a script":                  {"[a](javascript:alert(1))", "a\n"},
		"a script in capitals":      {"[a](JavaScript:alert(1))", "a\n"},
		"a file":                    {"[a](file:///etc/passwd)", "a\n"},
		"no host":                   {"[a](https:///x)", "a\n"},
		"a control character in it": {"[a](https://example.com/&#27;]0;x&#7;)", "a (https://example.com/&#27;%5D0;x&%237;)\n"},
		"by reference":              {"[a][b]\n\n[b]: https://example.com", "a (https://example.com)\n"},
		"a picture":                 {"![a](https://example.com/x.png)", "[image] a (https://example.com/x.png)\n"},
		"a picture without a name":  {"![](data:x)", "[image]\n"},
		"no text":                   {"[](https://example.com)", "https://example.com\n"},
		"in angles":                 {"<https://example.com>", "https://example.com\n"},
		"another scheme in angles":  {"<ftp://example.com>", "ftp://example.com\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := markdown.Render(c.in, markdown.Options{}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRenderEntities(t *testing.T) {
	for in, want := range map[string]string{
		`a \&amp; b &amp;lt; c`:  "a &amp; b &lt; c\n",
		`&#27;]0;title&#7;x`:     "]0;titlex\n",
		`a&#27;[2Jb`:             "a[2Jb\n",
		`a&#27;c`:                "a\n",
		`&#x9b;2Jb`:              "b\n",
		"`&#27;[2J`":             "`&#27;[2J`\n",
		`**a&#8238;b**`:          "**ab**\n",
		"| a&#27;cb |\n|---|\n|": "ab\n--\n\n",
	} {
		t.Run(in, func(t *testing.T) {
			if got := markdown.Render(in, markdown.Options{}); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// What would nest very deep, or holds very many marks, is drawn as it is written, so
// that nothing takes long.
func TestRenderCostly(t *testing.T) {
	for _, mark := range []string{">", "> ", "- ", "* ", "1. ", "1) - > ", "[", "![", "**a ", "*a_", "`a", "~~a", "<a", "](", "*a_\n", "[\n", "> *a_\n"} {
		long := strings.Repeat(mark, 20_000)
		if got := markdown.Render(long, markdown.Options{}); strings.TrimSpace(got) != strings.TrimSpace(long) {
			t.Errorf("many %q are not drawn as they are written: %.40q", mark, got)
		}
	}
	for _, mark := range []string{"|", "| a ", "&", "\\", "a b ", "a\n> ", "- a\n", "-", "- *a*\n", "* **a** _b_\n\n"} {
		long := strings.Repeat(mark, 100_000/len(mark))
		if got := markdown.Render(long, markdown.Options{}); got == "" {
			t.Errorf("nothing is drawn of many %q", mark)
		}
	}
}

var (
	colours = regexp.MustCompile(`\x1b\[(0;)?[0-9;]*m`)
	obeyed  = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f]")
)

func FuzzRender(f *testing.F) {
	source, err := os.ReadFile(filepath.Join("testdata", "all.md"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(source), 40)
	f.Add("| a | b |\n|---|---|\n| `x` | [y](https://z) |", 3)
	f.Add("- a\n\n  > b\n  1) c\n     ```\n     d", 12)
	f.Fuzz(func(t *testing.T, source string, width int) {
		width = width % 200
		for _, mode := range []printable.Mode{printable.Strip, printable.Visualise} {
			got := markdown.Render(source, markdown.Options{Width: width, Controls: mode})
			if obeyed.MatchString(got) {
				t.Errorf("something to obey without colours: %q", got)
			}
			if got := markdown.Render(source, markdown.Options{Width: width, Controls: mode, Colour: true}); obeyed.MatchString(colours.ReplaceAllString(got, "")) {
				t.Errorf("something to obey besides colours: %q", got)
			}
		}
	})
}
