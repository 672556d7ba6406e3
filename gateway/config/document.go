package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"warmpath/gateway/catalog"
)

// schema says what may stand at a place of the file: a mapping with these
// fields, a mapping of free names to each, a list of scalars, or else a scalar.
type schema struct {
	fields map[string]*schema
	each   *schema
	list   bool
	// single says that a list may be a scalar too, for one item, and loose that a
	// mapping may be one.
	single, loose bool
}

var scalar = &schema{}

// anything is a scalar, or a mapping to more of the kind.
var anything = func() *schema {
	s := &schema{loose: true}
	s.each = s
	return s
}()

// fileSchema is the whole file: the settings, and what is not a scalar.
var fileSchema = func() *schema {
	list, names := &schema{list: true}, &schema{each: scalar}
	price := func() map[string]*schema {
		fields := map[string]*schema{}
		for _, column := range catalog.PriceColumns {
			fields[column] = scalar
		}
		return fields
	}
	priced, above := price(), price()
	above["tokens"] = scalar
	priced["above"], priced["hosted"], priced["terms"] = &schema{fields: above}, names, names
	root := &schema{fields: map[string]*schema{
		"prices":      {each: &schema{fields: priced}},
		"access_keys": list,
		"aliases":     {each: &schema{list: true, single: true}},
		"defaults":    names,
		"mcp":         serverSchema,
		"routes": {each: &schema{fields: map[string]*schema{
			"tools":    {fields: map[string]*schema{"builtin": list, "mcp": list}},
			"audience": scalar, "events": scalar,
		}}},
		"models":  list,
		"display": {each: anything},
		"prompts": {fields: promptSchema()},
		"providers": {each: &schema{fields: map[string]*schema{
			"label": scalar, "base_url": scalar, "dialects": list, "bases": names, "key": scalar, "key_style": scalar, "endpoint": scalar,
			"region": scalar, "access_key": scalar, "secret_key": scalar, "session_token": scalar,
			"habits": list, "continue": scalar, "missing_tools": scalar,
			"mode": scalar, "abilities": {each: &schema{fields: map[string]*schema{
				"text": scalar, "tools": scalar, "binding": scalar, "marks": scalar, "diagnostics": scalar, "effort": scalar,
			}}},
		}}},
	}}
	for _, s := range settings {
		at := root
		for name, rest, more := strings.Cut(s.key, "."); ; name, rest, more = strings.Cut(rest, ".") {
			if !more {
				at.fields[name] = scalar
				break
			}
			if at.fields[name] == nil {
				at.fields[name] = &schema{fields: map[string]*schema{}}
			}
			at = at.fields[name]
		}
	}
	return root
}()

// place is a position in the file, both counted from one; zero is nowhere.
type place struct{ line, column int }

// entry is one place of a file that has been read: a scalar's text, a list's
// items or a mapping's children. Only what the schema allows is in it.
type entry struct {
	place    place
	text     string
	items    []*entry
	children map[string]*entry
}

// at walks down; nil if there is no such entry.
func (e *entry) at(path ...string) *entry {
	for _, name := range path {
		if e == nil {
			return nil
		}
		e = e.children[name]
	}
	return e
}

// nearest is the place of the deepest entry on the path.
func (e *entry) nearest(path []string) (p place) {
	for ; e != nil; path = path[1:] {
		p = e.place
		if len(path) == 0 {
			break
		}
		e = e.children[path[0]]
	}
	return p
}

// reader turns YAML into entries and reports whatever the schema does not
// allow, all of it, at its place.
type reader struct {
	name     string
	lines    []string
	problems Problems
}

// mostBytes is far beyond any sensible file.
const mostBytes = 1 << 20

// deepest bounds how many flow collections may stand in each other: the parser
// recurses, and no setting needs more than a few levels.
const deepest = 100

// depth counts brackets without regard to quotes; texts full of opening
// brackets are no loss.
func depth(text string) (most int) {
	depth := 0
	for _, c := range []byte(text) {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// read parses a file; the root entry is never nil.
func (r *reader) read(data []byte) *entry {
	root := &entry{children: map[string]*entry{}}
	text := strings.TrimPrefix(string(data), "\ufeff")
	r.lines = strings.Split(text, "\n")
	switch {
	case len(data) > mostBytes:
		r.report(place{}, "", "is larger than 1 MiB; this is not a configuration")
		return root
	case depth(text) > deepest:
		r.report(place{}, "", "has far more brackets in brackets than any setting needs")
		return root
	}
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return root
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) > 1 {
		r.report(placeOf(docs[1].Body), "", "has a second document; put everything into the first")
	}
	if len(docs) > 0 {
		if e := r.entry(docs[0].Body, fileSchema, ""); e != nil && e.children != nil {
			root = e
		}
	}
	return root
}

// syntax reports an error of the parser.
func (r *reader) syntax(err error) {
	var detail yaml.Error
	if !errors.As(err, &detail) || detail.GetToken() == nil {
		r.report(place{}, "", "is not YAML")
		return
	}
	position := detail.GetToken().Position
	r.report(place{position.Line, position.Column}, "", "is not YAML: "+scrub(detail.GetMessage()))
}

// entry reads a node; nil if nothing can be made of it, which is reported,
// or if it is null, which is the same as not there.
func (r *reader) entry(node ast.Node, s *schema, key string) *entry {
	e := &entry{place: placeOf(node)}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.MappingNode:
		return r.mapping(e, n.Values, s, key)
	case *ast.MappingValueNode:
		return r.mapping(e, []*ast.MappingValueNode{n}, s, key)
	case *ast.SequenceNode:
		if !s.list {
			return r.unexpected(e, key, "a list", s)
		}
		for i, value := range n.Values {
			item := r.entry(value, scalar, fmt.Sprintf("%s[%d]", key, i))
			if item == nil {
				continue
			}
			e.items = append(e.items, item)
		}
		return e
	}
	text, ok := scalarText(node)
	if !ok {
		r.report(e.place, key, "uses an anchor, an alias or a tag; write the value itself")
		return nil
	}
	if s.single {
		e.items = []*entry{{place: e.place, text: text}}
		return e
	}
	if !s.loose && (s.list || s.fields != nil || s.each != nil) {
		return r.unexpected(e, key, "a single value", s)
	}
	e.text = text
	return e
}

func (r *reader) unexpected(e *entry, key, found string, s *schema) *entry {
	wanted := "a single value"
	switch {
	case s.list:
		wanted = "a list, like [a, b]"
	case s.each != nil || s.fields != nil:
		wanted = "names and values, like name: value"
	}
	r.report(e.place, key, "is "+found+"; write "+wanted)
	return nil
}

func (r *reader) mapping(e *entry, pairs []*ast.MappingValueNode, s *schema, key string) *entry {
	if s.fields == nil && s.each == nil {
		return r.unexpected(e, key, "a mapping", s)
	}
	e.children = map[string]*entry{}
	for _, pair := range pairs {
		at := placeOf(pair.Key)
		name, ok := scalarText(pair.Key)
		if !ok {
			r.report(at, key, "has a name that is not a plain word; write name: value")
			continue
		}
		path := name
		if key != "" {
			path = key + "." + name
		}
		below := s.each
		if s.fields != nil {
			below = s.fields[name]
		}
		if below == nil {
			r.unknown(at, key, name, s)
			continue
		}
		if earlier := e.children[name]; earlier != nil {
			r.report(at, path, fmt.Sprintf("is already set in line %d; remove one of the two", earlier.place.line))
			continue
		}
		if child := r.entry(pair.Value, below, path); child != nil {
			child.place = at
			e.children[name] = child
		}
	}
	return e
}

// unknown reports a name that the schema does not have. It repeats the name
// only if it is surely no secret that slipped there.
func (r *reader) unknown(at place, key, name string, s *schema) {
	known := make([]string, 0, len(s.fields))
	for field := range s.fields {
		known = append(known, field)
	}
	slices.Sort(known)
	where := key
	if where != "" {
		where += "."
	}
	message := "is not a setting; write one of " + strings.Join(known, ", ")
	if near := nearest(name, known); near != "" {
		message = "is not a setting; did you mean " + near + "?"
	}
	r.report(at, where+shown(name), message)
}

// scalarText is the text of a scalar as it was written, so that numbers and
// words keep their spelling; ok is false for anything else.
func scalarText(node ast.Node) (text string, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func placeOf(node ast.Node) place {
	var first *token.Token
	if node != nil {
		first = node.GetToken()
	}
	if first == nil || first.Position == nil {
		return place{}
	}
	return place{first.Position.Line, first.Position.Column}
}
