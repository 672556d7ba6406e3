package markdown

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns a text takes in a terminal.
func columns(text string) (n int) {
	for _, c := range text {
		n += column(c)
	}
	return n
}

func column(c rune) int {
	switch {
	case c >= ' ' && c < 0x7f:
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(c).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// word is what stands between two spaces; it may have several looks.
type word struct {
	pieces []piece
	size   int
	// spaced is the look of the space before it.
	spaced look
	// first says that a line begins with it, whatever fits.
	first bool
}

// words takes pieces apart at their spaces.
func words(pieces []piece) (all []word) {
	var current word
	flush := func(next look, first bool) {
		if len(current.pieces) > 0 || current.first {
			all = append(all, current)
		}
		current = word{spaced: next, first: first}
	}
	for _, p := range pieces {
		if p.ends {
			flush(0, true)
			continue
		}
		for i, part := range strings.Split(p.text, " ") {
			if i > 0 {
				first := current.first && len(current.pieces) == 0
				flush(p.look, first)
			}
			if part != "" {
				current.pieces = append(current.pieces, piece{text: part, look: p.look})
				current.size += columns(part)
			}
		}
	}
	flush(0, false)
	return all
}

// wrap draws pieces in lines of a width. A word that is longer than a line has one of
// its own.
func (r *renderer) wrap(pieces []piece, most int) (lines []string) {
	var line []piece
	size := 0
	for i, w := range words(pieces) {
		switch {
		case i > 0 && (w.first || size+1+w.size > most):
			lines = append(lines, r.dressed(line))
			line, size = nil, 0
		case size > 0:
			line = append(line, piece{text: " ", look: w.spaced})
			size++
		}
		line = append(line, w.pieces...)
		size += w.size
	}
	if len(line) > 0 {
		lines = append(lines, r.dressed(line))
	}
	return lines
}

// dressed is a line with the sequences of its looks.
func (r *renderer) dressed(line []piece) string {
	var b strings.Builder
	var now look
	for _, p := range line {
		if r.Colour && p.look != now {
			b.WriteString(dress(p.look, now))
			now = p.look
		}
		b.WriteString(p.text)
	}
	if now != 0 {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// dress is the sequence that makes one look of another.
func dress(to, from look) string {
	codes := []string{}
	if from != 0 {
		codes = append(codes, "0")
	}
	for i, code := range sequences {
		if to&(1<<i) != 0 {
			codes = append(codes, code)
		}
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}
