package markdown

import (
	"bufio"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	marked "github.com/yuin/goldmark/renderer/html"
)

// look is how a text looks.
type look uint8

// The looks, which go together.
const (
	bold look = 1 << iota
	italic
	code
	struck
	linked
	faint
)

// sequences set the looks, in their order.
var sequences = [...]string{"1", "3", "36", "9", "4", "2"}

// piece is a text of one look, or the end of a line.
type piece struct {
	text string
	look look
	ends bool
}

func decimal(n int) string { return strconv.Itoa(n) }

// inline gives the pieces of what is within a node.
func (r *renderer) inline(parent ast.Node, as look) (pieces []piece) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		pieces = append(pieces, r.span(n, as)...)
	}
	return pieces
}

func (r *renderer) span(n ast.Node, as look) []piece {
	switch n := n.(type) {
	case *ast.Text:
		pieces := []piece{{text: r.words(n.Segment.Value(r.source), n.IsRaw()), look: as}}
		if n.SoftLineBreak() || n.HardLineBreak() {
			pieces = append(pieces, piece{ends: true})
		}
		return pieces
	case *ast.String:
		return []piece{{text: r.words(n.Value, n.IsRaw() || n.IsCode()), look: as}}
	case *ast.CodeSpan:
		return r.between("`", r.raw(n, as|code), as)
	case *ast.Emphasis:
		if n.Level > 1 {
			return r.between("**", r.inline(n, as|bold), as)
		}
		return r.between("*", r.inline(n, as|italic), as)
	case *extended.Strikethrough:
		return r.between("~~", r.inline(n, as|struck), as)
	case *extended.TaskCheckBox:
		if n.IsChecked {
			return []piece{{text: "[x] ", look: as}}
		}
		return []piece{{text: "[ ] ", look: as}}
	case *ast.Link:
		return r.link(r.inline(n, as|linked), string(n.Destination), as)
	case *ast.Image:
		return r.link(append([]piece{{text: "[image] ", look: as}}, r.inline(n, as)...), string(n.Destination), as)
	case *ast.AutoLink:
		label := r.clean.Line(string(n.Label(r.source)))
		return r.link([]piece{{text: label, look: as | linked}}, string(n.URL(r.source)), as)
	case *ast.RawHTML:
		return r.tag(n, as)
	}
	return r.inline(n, as)
}

// words is a text with its entities and escapes undone, unless it is raw, and made
// fit for a terminal after that.
func (r *renderer) words(source []byte, raw bool) string {
	if raw {
		return r.clean.Line(string(source))
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	marked.DefaultWriter.Write(w, source)
	if err := w.Flush(); err != nil {
		panic("BUG: a builder refuses text: " + err.Error())
	}
	return r.clean.Line(html.UnescapeString(b.String()))
}

// raw gives the text of a code span.
func (r *renderer) raw(parent ast.Node, as look) (pieces []piece) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			text := strings.ReplaceAll(string(t.Segment.Value(r.source)), "\n", " ")
			pieces = append(pieces, piece{text: r.clean.Line(text), look: as})
		}
	}
	return pieces
}

// between keeps the marks where looks cannot be seen.
func (r *renderer) between(mark string, pieces []piece, as look) []piece {
	if r.Colour {
		return pieces
	}
	return append(append([]piece{{text: mark, look: as}}, pieces...), piece{text: mark, look: as})
}

// link tells where a text leads to, if it leads to a page.
func (r *renderer) link(label []piece, to string, as look) []piece {
	var text strings.Builder
	for _, p := range label {
		text.WriteString(p.text)
	}
	to, ok := Address(to)
	if !ok {
		for i := range label {
			label[i].look &^= linked
		}
		return label
	}
	if to = r.clean.Line(to); to == text.String() {
		return label
	}
	if strings.TrimSpace(text.String()) == "" {
		return []piece{{text: to, look: as | linked}}
	}
	return append(label, piece{text: " (" + to + ")", look: as | faint})
}

// Address gives an address as it may be shown as a link: ok is false for any that a
// browser would not open as a page.
func Address(to string) (address string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	return u.String(), true
}

// tag draws HTML within a line: a break as one, everything else as it is written.
func (r *renderer) tag(n *ast.RawHTML, as look) []piece {
	var b strings.Builder
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		b.Write(segment.Value(r.source))
	}
	switch strings.ToLower(strings.ReplaceAll(b.String(), " ", "")) {
	case "<br>", "<br/>":
		return []piece{{ends: true}}
	}
	return []piece{{text: r.clean.Line(b.String()), look: as}}
}
