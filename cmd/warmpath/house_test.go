package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The house rules: what the compiler does not check and every change must keep.
// Each test reads the source tree; the reason stands in its failure text.

const root = "../.."

// sourceFile is one Go file of the main module.
type sourceFile struct {
	path   string // from the root, with slashes
	pkg    string // its folder, "" for the root
	test   bool
	lines  int
	syntax *ast.File
}

// tree is everything under the root that is kept, read once per test binary.
type tree struct {
	fset    *token.FileSet
	sources []sourceFile
	files   []string // every regular file, from the root
	folders []string
	modules []string // folders of nested modules
}

// What holds nothing of ours, by name; in a second work tree .git is a file.
var notOurs = []string{".git", "bin", "node_modules"}

func load(t *testing.T) *tree {
	t.Helper()
	tr, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.sources) < 10 {
		t.Fatalf("found %d Go files under %s: the rules would check nothing", len(tr.sources), root)
	}
	return tr
}

var read = sync.OnceValues(func() (*tree, error) {
	tr := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case slices.Contains(notOurs, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			tr.folders = append(tr.folders, rel)
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && rel != "." {
				tr.modules = append(tr.modules, rel)
			}
		case d.Type().IsRegular():
			tr.files = append(tr.files, rel)
			return tr.parse(rel)
		}
		return nil
	})
	return tr, err
})

func (tr *tree) parse(rel string) error {
	pkg := path.Dir(rel)
	if pkg == "." {
		pkg = ""
	}
	if path.Ext(rel) != ".go" || tr.nested(rel) || slices.Contains(strings.Split(pkg, "/"), "testdata") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(root, rel))
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(tr.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tr.sources = append(tr.sources, sourceFile{
		path:   rel,
		pkg:    pkg,
		test:   strings.HasSuffix(rel, "_test.go"),
		lines:  strings.Count(string(text), "\n"),
		syntax: syntax,
	})
	return nil
}

// nested reports whether a file belongs to a module of its own.
func (tr *tree) nested(rel string) bool {
	return slices.ContainsFunc(tr.modules, func(m string) bool { return strings.HasPrefix(rel, m+"/") })
}

// production is every Go file that is no test.
func (tr *tree) production() []sourceFile {
	return slices.DeleteFunc(slices.Clone(tr.sources), func(f sourceFile) bool { return f.test })
}

func imports(f sourceFile) []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic("BUG: the parser let an import through: " + spec.Path.Value)
		}
		paths = append(paths, p)
	}
	return paths
}

func TestHouseTopLevel(t *testing.T) {
	allowed := []string{
		"go.mod", "go.sum", "cmd", "gateway", "rewrite", "cache", "metrics", "fixtures", "deploy",
		"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "Makefile", ".golangci.yml", ".ci", ".gitignore",
	}
	// What Git or a build leaves there; .gitignore has the builds.
	ignored := []string{".git", "bin", "warmpath"}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(allowed, name) && !slices.Contains(ignored, name) {
			t.Errorf("%s at the top level: the top level is fixed, so that it reads as a sentence; find the room it belongs to", name)
		}
	}
}

func TestHouseNames(t *testing.T) {
	tr := load(t)
	vague := []string{"docs", "pkg", "internal", "util", "utils", "helper", "helpers", "common", "types", "misc", "manager"}
	for _, folder := range tr.folders {
		if slices.Contains(vague, path.Base(folder)) {
			t.Errorf("folder %s: name it after what it holds", folder)
		}
	}
	for _, f := range tr.production() {
		name := strings.TrimSuffix(path.Base(f.path), ".go")
		if slices.Contains(vague, name) {
			t.Errorf("%s: name the file after the noun it defines or the verb it performs", f.path)
		}
		if name == "main" && f.syntax.Name.Name != "main" {
			t.Errorf("%s: only a program has a main file", f.path)
		}
	}
	for _, m := range tr.modules {
		if !strings.HasPrefix(m, "fixtures/") {
			t.Errorf("%s has a go.mod: only fixtures may bring modules of their own", m)
		}
	}
}

func TestHouseSizes(t *testing.T) {
	const (
		fileStop     = 600
		fileP90      = 380
		functionStop = 120
	)
	tr := load(t)
	var lines []int
	for _, f := range tr.production() {
		lines = append(lines, f.lines)
		if f.lines > fileStop {
			t.Errorf("%s has %d lines, more than %d: split it by noun", f.path, f.lines, fileStop)
		}
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || strings.Contains(fn.Doc.Text(), "wiring") {
				continue
			}
			n := tr.fset.Position(fn.End()).Line - tr.fset.Position(fn.Pos()).Line + 1
			if n > functionStop {
				t.Errorf("%s: %s has %d lines, more than %d: only wiring may, and its comment says so",
					tr.fset.Position(fn.Pos()), fn.Name.Name, n, functionStop)
			}
		}
	}
	slices.Sort(lines)
	if p90 := lines[len(lines)*9/10]; p90 > fileP90 {
		t.Errorf("a tenth of the files has %d lines or more; at most %d keeps a file one idea", p90, fileP90)
	}
}
