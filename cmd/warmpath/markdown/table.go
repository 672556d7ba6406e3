package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
)

// A table is drawn with at most so many columns, each at least this wide if there is
// any choice.
const (
	mostColumns = 30
	leastColumn = 6
)

// table draws a table, its cells wrapped where it would be wider than the terminal;
// ok is false for any other node.
func (r *renderer) table(n ast.Node, most int) (lines []string, ok bool) {
	t, ok := n.(*extended.Table)
	if !ok {
		return nil, false
	}
	if len(t.Alignments) > mostColumns {
		return r.asWritten(n), true
	}
	var rows [][][]piece
	widths := make([]int, len(t.Alignments))
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		as := look(0)
		if row.Kind() == extended.KindTableHeader {
			as = bold
		}
		var cells [][]piece
		for cell := row.FirstChild(); cell != nil && len(cells) < len(widths); cell = cell.NextSibling() {
			pieces := r.inline(cell, as)
			size := 0
			for _, p := range pieces {
				size += columns(p.text)
			}
			widths[len(cells)] = max(widths[len(cells)], min(size, most))
			cells = append(cells, pieces)
		}
		rows = append(rows, cells)
	}
	fit(widths, most-3*(len(widths)-1))
	bar, rule, cross := " | ", "-", "-|-"
	if r.Colour {
		bar, rule, cross = " │ ", "─", "─┼─"
	}
	for i, row := range rows {
		lines = append(lines, r.row(row, widths, t.Alignments, bar)...)
		if i == 0 {
			parts := make([]string, len(widths))
			for j, w := range widths {
				parts[j] = strings.Repeat(rule, w)
			}
			lines = append(lines, strings.Join(parts, cross))
		}
	}
	return lines, true
}

// asWritten draws the lines of a table as they are written.
func (r *renderer) asWritten(n ast.Node) (lines []string) {
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.Join(r.wrap(r.inline(cell, 0), 1<<20), " "))
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

// fit narrows the widest columns until all of them take no more than there is.
func fit(widths []int, most int) {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	for sum > most {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			return
		}
		widths[widest]--
		sum--
	}
}

// row draws one row, which takes as many lines as its longest cell.
func (r *renderer) row(cells [][]piece, widths []int, sides []extended.Alignment, bar string) (lines []string) {
	drawn := make([][]string, len(widths))
	height := 1
	for i := range cells {
		drawn[i] = r.wrap(broken(cells[i], widths[i]), widths[i])
		height = max(height, len(drawn[i]))
	}
	for at := range height {
		parts := make([]string, len(widths))
		for i, w := range widths {
			text := ""
			if at < len(drawn[i]) {
				text = drawn[i][at]
			}
			parts[i] = padded(text, w, sides[i])
		}
		lines = append(lines, strings.Join(parts, bar))
	}
	return lines
}

// padded fills a cell with spaces on the side that its column says.
func padded(text string, size int, side extended.Alignment) string {
	free := max(size-visible(text), 0)
	switch side {
	case extended.AlignRight:
		return strings.Repeat(" ", free) + text
	case extended.AlignCenter:
		return strings.Repeat(" ", free/2) + text + strings.Repeat(" ", free-free/2)
	case extended.AlignLeft, extended.AlignNone:
	}
	return text + strings.Repeat(" ", free)
}

// visible is how many columns a drawn line takes, without its sequences.
func visible(line string) (n int) {
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		n += columns(before)
		if !found {
			return n
		}
		_, line, _ = strings.Cut(rest, "m")
	}
}

// broken are pieces in which no word is longer than a width.
func broken(pieces []piece, most int) (all []piece) {
	most = max(most, 2)
	run := 0
	for _, p := range pieces {
		var b strings.Builder
		for _, c := range p.text {
			switch size := column(c); {
			case c == ' ':
				run = 0
			case run+size > most:
				b.WriteByte(' ')
				run = size
			default:
				run += size
			}
			b.WriteRune(c)
		}
		if p.ends {
			run = 0
		}
		all = append(all, piece{text: b.String(), look: p.look, ends: p.ends})
	}
	return all
}
