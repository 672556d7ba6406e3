package main_test

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the path that our own imports start with.
const module = "warmpath"

// floors says how high each package stands. A package imports only lower
// floors: calls go down and values come back up, so no room knows its caller.
// Packages of one floor do not know each other; that is what keeps dialects
// apart. Packages that serve tests have no floor: see TestHouseFixtures.
var floors = map[string]int{
	"rewrite": 0,

	"rewrite/sse":    1,
	"rewrite/splice": 1,
	"cache":          1,
	"cache/eventlog": 1,
	"metrics":        1,
	"metrics/otlp":   2,
	// Text of strangers, for whoever shows it.
	"rewrite/printable": 1,

	// Dialects hand these facts and apply their edits, not the other way round.
	"rewrite/continuity": 2,
	"rewrite/audience":   2,

	// One outside party each.
	"rewrite/anthropic":   3,
	"rewrite/completions": 3,
	"rewrite/responses":   3,
	"rewrite/gemini":      3,
	"rewrite/converse":    3,
	"cache/disk":          3,
	"cache/redis":         3,

	"rewrite/transcript": 3,
	"rewrite/view":       4,

	"cache/lineage":    4,
	"cache/replies":    4,
	"cache/verdicts":   4,
	"cache/ledger":     4,
	"gateway/secret":   4,
	"gateway/display":  4,
	"gateway/catalog":  5,
	"gateway/sign":     5,
	"gateway/upstream": 6,
	// A question is words only, a prompt waits for who answers it, and tools ask.
	"gateway/question":  6,
	"gateway/prompt":    7,
	"gateway/tools":     8,
	"gateway/tools/mcp": 9,
	"gateway/relay":     10,
	"gateway/front":     11,
	"gateway/console":   11,
	// Markdown of strangers as HTML, for the pages of the console.
	"gateway/console/markup": 10,
	"gateway/config":         12,
	"gateway":                13,
	// What the commands draw with.
	"cmd/warmpath/markdown": 14,
	"cmd/warmpath/watch":    15,
	"cmd/warmpath":          16,
}

// planned are packages whose floor is decided and whose code is still to come.
var planned = []string{"cache/lineage", "rewrite/continuity", "rewrite/audience"}

// room says where a vendor may be imported and why nowhere else. A folder that
// ends in /... includes what is below it.
type room struct {
	folders []string
	why     string
}

var vendors = map[string]room{
	"github.com/yuin/goldmark": {
		[]string{"cmd/warmpath/markdown", "gateway/console/markup"},
		"Markdown is drawn for terminals in one place, and made HTML in another, where it is cleaned too",
	},
	"github.com/microcosm-cc/bluemonday": {
		[]string{"gateway/console/markup"},
		"what models have written is made harmless where it becomes HTML, and nothing else becomes HTML",
	},
	"golang.org/x/text": {
		[]string{"cmd/warmpath/markdown"},
		"how wide characters are matters to a terminal only",
	},
	"golang.org/x/term": {
		[]string{"cmd/warmpath/watch"},
		"a terminal is asked for its width, and to keep what is typed to itself, where a person types",
	},
	"github.com/valyala/fasthttp": {
		[]string{"gateway/front", "gateway/upstream", "gateway/console", "fixtures/bench/..."},
		"the HTTP library stays at the edge, so that the rest is tested without a socket and the library can be replaced",
	},
	"github.com/prometheus/": {
		[]string{"metrics/...", "gateway/console"},
		"every metric name and label stands in package metrics, where its cardinality is known",
	},
	"go.opentelemetry.io/": {
		[]string{"metrics/otlp"},
		"what is measured is named in package metrics, and sent from one place",
	},
	"google.golang.org/": {
		[]string{"metrics/otlp"},
		"it reads in a test what is sent to a collector",
	},
	"github.com/tidwall/gjson": {
		[]string{"rewrite/...", "gateway/...", "fixtures/..."},
		"metrics and cache count and keep bytes, they do not read them",
	},
	"github.com/tidwall/sjson": {
		[]string{"rewrite/splice"},
		"JSON is changed by edits that leave all other bytes as they are",
	},
	"github.com/goccy/go-yaml": {
		[]string{"gateway/config", "gateway/catalog"},
		"YAML is read when configuration loads and nowhere else",
	},
	"github.com/redis/go-redis/v9": {
		[]string{"cache/redis"},
		"a lost store costs a cache miss and never an error: one package knows how it is lost",
	},
	"go.etcd.io/bbolt": {
		[]string{"cache/disk"},
		"what is on disk has one owner",
	},
	"go.uber.org/goleak": {
		[]string{"cache/cachetest", "fixtures/..."},
		"it watches tests",
	},
	"github.com/google/go-cmp": {
		[]string{"cache/cachetest", "fixtures/..."},
		"it compares in tests; it panics where production must not",
	},
	"github.com/santhosh-tekuri/jsonschema/v6": {
		[]string{"fixtures/openresponses"},
		"it judges what clients get, in tests",
	},
	"github.com/modelcontextprotocol/go-sdk": {
		[]string{"gateway/tools/mcp"},
		"it decodes what tools give, and what it has no field for is gone: one package keeps that",
	},
	"github.com/fsnotify/fsnotify": {
		[]string{"gateway/config", "gateway"},
		"what reloads, reloads through one door",
	},
	"golang.org/x/sys": {
		[]string{"gateway/front", "gateway/upstream", "fixtures/bench/..."},
		"system calls are for sockets, and for what a benchmark measures of a process",
	},
	"golang.org/x/net": {
		[]string{"gateway/upstream"},
		"it has what reaches a provider: proxies and HTTP/2",
	},
	"github.com/aws/": {
		[]string{"gateway/sign", "fixtures/..."},
		"signing is one small part of the vendor's kit, and the rest of the gateway needs none of it",
	},
	"github.com/andybalholm/brotli": {
		[]string{"gateway/relay", "fixtures/..."},
		"a compressed reply is unpacked in one place, to read its usage",
	},
	"github.com/klauspost/compress": {
		[]string{"gateway/relay", "fixtures/..."},
		"a compressed reply is unpacked in one place, to read its usage",
	},
}

func in(folders []string, pkg string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		base, below := strings.CutSuffix(f, "/...")
		return pkg == base || below && strings.HasPrefix(pkg, base+"/")
	})
}

// own gives the folder of one of our imports.
func own(imported string) (folder string, ok bool) {
	return strings.CutPrefix(imported, module+"/")
}

// isFixture reports whether a package serves tests: what is under fixtures, and
// suites such as cache/cachetest that stand beside what they test.
func isFixture(pkg string) bool {
	return pkg == "fixtures" || strings.HasPrefix(pkg, "fixtures/") || strings.HasSuffix(pkg, "test")
}

func TestHouseFloors(t *testing.T) {
	tr := load(t)
	seen := map[string]bool{}
	for _, f := range tr.production() {
		if isFixture(f.pkg) {
			continue
		}
		floor, ok := floors[f.pkg]
		if !ok {
			if !seen[f.pkg] {
				t.Errorf("package %q has no floor: decide who may import it and enter it in floors", f.pkg)
			}
			seen[f.pkg] = true
			continue
		}
		for _, imported := range imports(f) {
			folder, ok := own(imported)
			if !ok || isFixture(folder) {
				continue
			}
			if below, ok := floors[folder]; ok && below >= floor {
				t.Errorf("%s imports %s: %s is on floor %d and %s on %d, and a package imports only lower floors, so that no room knows its caller or its neighbour",
					f.path, folder, f.pkg, floor, folder, below)
			}
		}
	}
}

func TestHouseFixtures(t *testing.T) {
	for _, f := range load(t).production() {
		for _, imported := range imports(f) {
			folder, ok := own(imported)
			if !ok {
				continue
			}
			if isFixture(folder) && !isFixture(f.pkg) && !strings.HasPrefix(f.pkg, "cmd/") {
				t.Errorf("%s imports %s: fixtures are for tests and for commands, never for what runs in production", f.path, folder)
			}
			if isFixture(f.pkg) && strings.HasPrefix(folder, "cmd/") {
				t.Errorf("%s imports %s: a command is started, not imported", f.path, folder)
			}
		}
	}
}

// The rewriting half is functions from bytes to bytes. What it may not import
// would give it a way to wait, to fail for reasons outside its input, or to
// answer differently twice.
func TestHouseRewriteIsPure(t *testing.T) {
	impure := []string{"net", "os", "context", "log", "syscall", "math/rand", "crypto/rand"}
	pure := []string{"net/url"}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	tr := load(t)
	for _, f := range tr.production() {
		if f.pkg != "rewrite" && !strings.HasPrefix(f.pkg, "rewrite/") {
			continue
		}
		for _, imported := range imports(f) {
			for _, bad := range impure {
				if (imported == bad || strings.HasPrefix(imported, bad+"/")) && !slices.Contains(pure, imported) {
					t.Errorf("%s imports %s: under rewrite are only functions from bytes to bytes", f.path, imported)
				}
			}
			if folder, ok := own(imported); ok && folder != "rewrite" && !strings.HasPrefix(folder, "rewrite/") {
				t.Errorf("%s imports %s: rewrite knows no other top-level folder", f.path, folder)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, sel.Sel.Name) {
				t.Errorf("%s reads the clock: a rewrite must give the same bytes at any time", tr.fset.Position(sel.Pos()))
			}
			return true
		})
	}
}

func TestHouseVendors(t *testing.T) {
	for _, f := range load(t).production() {
		for _, imported := range imports(f) {
			if _, ok := own(imported); ok || !strings.Contains(strings.Split(imported, "/")[0], ".") {
				continue
			}
			vendor, ok := roomOf(imported)
			switch {
			case !ok:
				t.Errorf("%s imports %s, which has no room: enter it in vendors with its place and the reason", f.path, imported)
			case !in(vendor.folders, f.pkg):
				t.Errorf("%s imports %s, which belongs in %s only: %s", f.path, imported, strings.Join(vendor.folders, ", "), vendor.why)
			}
		}
	}
}

func roomOf(imported string) (room, bool) {
	for prefix, r := range vendors {
		if imported == prefix || strings.HasPrefix(imported, strings.TrimSuffix(prefix, "/")+"/") {
			return r, true
		}
	}
	return room{}, false
}

// A rule for a package that is gone is a rule that checks nothing.
func TestHouseRulesAreNotStale(t *testing.T) {
	for _, pkg := range slices.Sorted(maps.Keys(floors)) {
		if _, err := os.Stat(filepath.Join(root, pkg)); err != nil && !slices.Contains(planned, pkg) {
			t.Errorf("floors has %s: %v", pkg, err)
		}
	}
}
