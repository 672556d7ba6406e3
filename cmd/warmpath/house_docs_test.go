package main_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestHousePackageComments(t *testing.T) {
	where := map[string][]string{}
	for _, f := range load(t).sources {
		if !f.test {
			where[f.pkg] = append(where[f.pkg], "")
		}
		if f.syntax.Doc != nil && !f.test {
			where[f.pkg] = append(where[f.pkg], f.path)
		}
		if f.test && f.syntax.Doc != nil {
			t.Errorf("%s: a comment directly above the package clause of a test becomes the package's; put a blank line between", f.path)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(where)) {
		commented := slices.DeleteFunc(where[pkg], func(s string) bool { return s == "" })
		if len(commented) != 1 {
			t.Errorf("package %s has %d package comments %q, want exactly one that says what the package is for", pkg, len(commented), commented)
		}
	}
}

func TestHouseExportsAreDescribed(t *testing.T) {
	tr := load(t)
	for _, f := range tr.production() {
		for _, decl := range f.syntax.Decls {
			for name, doc := range exports(decl) {
				text := strings.TrimSpace(doc.Text())
				if text == "" {
					t.Errorf("%s: %s has no comment: say what it is, in which units, and how it fails", tr.fset.Position(decl.Pos()), name)
				} else if !strings.Contains(text, ".") && !strings.HasSuffix(text, ":") {
					t.Errorf("%s: the comment of %s is no sentence: %q", tr.fset.Position(decl.Pos()), name, text)
				}
			}
		}
	}
}

// exports yields the exported names of a declaration, each with its comment; a
// group's comment stands for its members.
func exports(decl ast.Decl) map[string]*ast.CommentGroup {
	found := map[string]*ast.CommentGroup{}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			found[d.Name.Name] = d.Doc
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					found[s.Name.Name] = first(s.Doc, d.Doc)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						found[name.Name] = first(s.Doc, d.Doc, s.Comment)
					}
				}
			}
		}
	}
	return found
}

// What people set, send or watch is of no use to them unless it is told of.
func TestHouseReadmeTellsOfEachName(t *testing.T) {
	tr := load(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`^(warmpath|gen_ai_client)_[a-z0-9_]+$`)
	header := regexp.MustCompile(`^warmpath-[a-z-]+[a-z]$`)
	for what, rule := range map[string]struct {
		room string
		name func(n ast.Node) string
		want string // how the README has it
	}{
		"metrics": {"metrics", func(n ast.Node) string { return match(metric, n) }, "`%s"},
		"headers": {"gateway", func(n ast.Node) string { return match(header, n) }, "`%s`"},
		"flags":   {"gateway/config", flagOf, "--%s"},
	} {
		found := map[string]bool{}
		for _, f := range tr.production() {
			if f.pkg != rule.room && !strings.HasPrefix(f.pkg, rule.room+"/") {
				continue
			}
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if name := rule.name(n); name != "" {
					found[name] = true
				}
				return true
			})
		}
		if len(found) < 5 {
			t.Errorf("found %d %s: the rule would check nothing", len(found), what)
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if !strings.Contains(string(text), fmt.Sprintf(rule.want, name)) {
				t.Errorf("README.md does not tell of %s: its %s are those that the code has", name, what)
			}
		}
	}
}

// match is the string that a literal holds, if it is one of those looked for.
func match(pattern *regexp.Regexp, n ast.Node) string {
	if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
		if text, err := strconv.Unquote(literal.Value); err == nil && pattern.MatchString(text) {
			return text
		}
	}
	return ""
}

// flagOf is the flag that a setting names.
func flagOf(n ast.Node) string {
	if pair, ok := n.(*ast.KeyValueExpr); ok {
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "flag" {
			return match(regexp.MustCompile(`^[a-z-]+$`), pair.Value)
		}
	}
	return ""
}

func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func first(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, g := range groups {
		if g != nil {
			return g
		}
	}
	return nil
}
