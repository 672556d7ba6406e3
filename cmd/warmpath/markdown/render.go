package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"warmpath/rewrite/printable"
)

// Options are where a text is drawn.
type Options struct {
	// Width is that of the terminal in columns; 80 if it is 0.
	Width int
	// Colour says that the terminal shows weights and colours.
	Colour bool
	// Controls is what becomes of control characters in the text.
	Controls printable.Mode
}

// leastWidth is the least width that is drawn for.
const leastWidth = 20

var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify, extension.TaskList)).Parser()

// Render draws a text as lines, each with its line end, without an empty one at the
// end.
func Render(source string, o Options) string {
	if o.Width == 0 {
		o.Width = 80
	}
	r := &renderer{Options: o, clean: printable.Style{Mode: o.Controls}}
	source = r.clean.Text(source)
	var lines []string
	if costly(source) {
		lines = strings.Split(strings.Trim(source, "\n"), "\n")
	} else {
		r.source = []byte(source)
		lines = r.blocks(parser.Parse(text.NewReader(r.source)), max(o.Width, leastWidth), false)
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// renderer draws one text.
type renderer struct {
	Options
	clean  printable.Style
	source []byte
}

// blocks draws what is in a block, with an empty line in between if it is not tight.
func (r *renderer) blocks(parent ast.Node, width int, tight bool) (lines []string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		drawn := r.block(n, max(width, leastWidth/2))
		if len(drawn) == 0 {
			continue
		}
		if len(lines) > 0 && !tight {
			lines = append(lines, "")
		}
		lines = append(lines, drawn...)
	}
	return lines
}

func (r *renderer) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		marks := strings.Repeat("#", n.Level) + " "
		pieces := append([]piece{{text: marks, look: bold}}, r.inline(n, bold)...)
		return r.wrap(pieces, width)
	case *ast.Paragraph, *ast.TextBlock:
		return r.wrap(r.inline(n, 0), width)
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
		return r.verbatim(n)
	case *ast.Blockquote:
		mark := "> "
		if r.Colour {
			mark = "│ "
		}
		return prefixed(r.blocks(n, width-2, false), mark, mark)
	case *ast.List:
		return r.list(n, width)
	case *ast.ThematicBreak:
		if r.Colour {
			return []string{strings.Repeat("─", min(width, 40))}
		}
		return []string{"---"}
	}
	if table, ok := r.table(n, width); ok {
		return table
	}
	return r.blocks(n, width, false)
}

// verbatim draws lines as they are written, code set in from the rest.
func (r *renderer) verbatim(n ast.Node) (lines []string) {
	indent, as := "    ", code
	if n.Kind() == ast.KindHTMLBlock {
		indent, as = "", 0
	}
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		line := strings.ReplaceAll(strings.TrimRight(string(segment.Value(r.source)), "\n"), "\t", "    ")
		lines = append(lines, indent+r.dressed([]piece{{text: line, look: as}}))
	}
	if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() {
		lines = append(lines, strings.TrimRight(string(html.ClosureLine.Value(r.source)), "\n"))
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// list draws the items of a list, each with its mark.
func (r *renderer) list(n *ast.List, width int) (lines []string) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if !r.Colour {
			mark = "- "
		}
		if n.IsOrdered() {
			mark = decimal(number) + string(n.Marker) + " "
			number++
		}
		inside := r.blocks(item, width-columns(mark), n.IsTight)
		if len(inside) == 0 {
			inside = []string{""}
		}
		if len(lines) > 0 && !n.IsTight {
			lines = append(lines, "")
		}
		lines = append(lines, prefixed(inside, mark, strings.Repeat(" ", columns(mark)))...)
	}
	return lines
}

// prefixed puts something before the first line and before each of the others.
func prefixed(lines []string, first, rest string) []string {
	for i := range lines {
		if i == 0 {
			lines[i] = first + lines[i]
		} else {
			lines[i] = rest + lines[i]
		}
	}
	return lines
}
