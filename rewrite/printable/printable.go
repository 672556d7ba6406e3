// Package printable makes text that comes from strangers, from models, tools and the
// web, fit to be shown to a person in a terminal. A terminal obeys what is written to
// it: text may move the cursor over what was said before, hide itself, rename the
// window, or fill the clipboard. What is shown is changed; what is stored, or sent to
// a model, never is.
package printable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mode is what becomes of control characters and sequences.
type Mode uint8

// The modes: they are taken out, shown as what they are, or left to the terminal.
const (
	Strip Mode = iota
	Visualise
	Off
)

// Modes lists every mode, for tables.
var Modes = []Mode{Strip, Visualise, Off}

// String is the mode's name in settings.
func (m Mode) String() string { return [...]string{"strip", "visualise", "off"}[m] }

// Style is how text is made fit. The zero Style takes everything out.
type Style struct {
	Mode Mode
	// Colour lets through what sets colours and weights, all but what conceals. What
	// has been set ends with the text.
	Colour bool
}

// Text makes fit a text that may have several lines. Line feeds and tabs stay.
func (s Style) Text(text string) string {
	if s.Mode == Off || harmless(text) {
		return text
	}
	c := cleaner{Style: s, rest: text}
	c.out.Grow(len(text))
	for c.rest != "" {
		c.next()
	}
	if c.set {
		c.out.WriteString("\x1b[0m")
	}
	return c.out.String()
}

// Line makes fit a text that is shown on one line.
func (s Style) Line(text string) string {
	text = s.Text(text)
	if strings.ContainsAny(text, "\n\t") {
		text = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text)
	}
	return text
}

// harmless reports whether a text is ASCII without control characters, but for line
// feeds and tabs.
func harmless(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// cleaner goes through a text once.
type cleaner struct {
	Style
	rest string
	out  strings.Builder
	// set says that a colour is set.
	set bool
}

// The control characters that begin sequences, by the letter that stands for them
// after an escape.
const (
	csi = '['
	osc = ']'
	dcs = 'P'
	sos = 'X'
	pm  = '^'
	apc = '_'
)

// next takes a character, or a sequence of them, from the text.
func (c *cleaner) next() {
	r, size := utf8.DecodeRuneInString(c.rest)
	switch {
	case r == utf8.RuneError && size == 1:
		c.out.WriteRune(utf8.RuneError)
		c.rest = c.rest[1:]
	case r == 0x1b:
		c.sequence(size)
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		c.out.WriteByte(byte(r))
		c.rest = c.rest[1:]
	case r >= 0x80 && r <= 0x9f:
		c.single(r, size)
	case r < ' ' || r == 0x7f || reorders(r):
		c.drop(size)
	default:
		c.out.WriteString(c.rest[:size])
		c.rest = c.rest[size:]
	}
}

// reorders reports whether a character makes others appear in another order than
// theirs, by which one text can be made to look like another.
func reorders(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// sequence takes what an escape begins.
func (c *cleaner) sequence(size int) {
	if size == len(c.rest) {
		c.drop(size)
		return
	}
	switch introducer := c.rest[size]; {
	case introducer == csi:
		c.control(size + 1)
	case strings.IndexByte(string([]byte{osc, dcs, sos, pm, apc}), introducer) >= 0:
		c.drop(endOfString(c.rest, size+1, introducer == osc))
	default:
		end := size
		for end < len(c.rest) && c.rest[end] >= 0x20 && c.rest[end] <= 0x2f {
			end++
		}
		if end < len(c.rest) && c.rest[end] >= 0x30 && c.rest[end] <= 0x7e {
			end++
		} else {
			end = size // No sequence at all: what follows the escape stays.
		}
		c.drop(end)
	}
}

// single takes a control character that begins a sequence by itself.
func (c *cleaner) single(r rune, size int) {
	switch introducer := byte(r - 0x40); introducer {
	case csi:
		c.control(size)
	case osc, dcs, sos, pm, apc:
		c.drop(endOfString(c.rest, size, introducer == osc))
	default:
		c.drop(size)
	}
}

// control takes a control sequence whose parameters begin at an offset.
func (c *cleaner) control(from int) {
	i := from
	for i < len(c.rest) && c.rest[i] >= 0x30 && c.rest[i] <= 0x3f {
		i++
	}
	parameters := c.rest[from:i]
	plain := true
	for i < len(c.rest) && c.rest[i] >= 0x20 && c.rest[i] <= 0x2f {
		i++
		plain = false
	}
	if i == len(c.rest) || c.rest[i] < 0x40 || c.rest[i] > 0x7e {
		// A terminal waits for the end, and obeys what comes in between.
		c.drop(i)
		return
	}
	colours, all := "", false
	if plain && c.Colour && c.rest[i] == 'm' {
		colours, all = visible(parameters)
	}
	switch {
	case !all && (colours == "" || c.Mode == Visualise):
		c.drop(i + 1)
	default:
		c.out.WriteString("\x1b[" + colours + "m")
		c.set = !resets(colours)
		c.rest = c.rest[i+1:]
	}
}

// drop takes so many bytes out, or shows what they are.
func (c *cleaner) drop(size int) {
	taken := c.rest[:size]
	c.rest = c.rest[size:]
	if c.Mode != Visualise {
		return
	}
	for _, r := range taken {
		switch {
		case r < ' ' && r != '\n' && r != '\t':
			c.out.WriteRune('\u2400' + r)
		case r == 0x7f:
			c.out.WriteRune('\u2421')
		case r >= 0x80 && r <= 0x9f || reorders(r):
			fmt.Fprintf(&c.out, "<U+%04X>", r)
		default:
			c.out.WriteRune(r)
		}
	}
}

// endOfString is where a string ends that a sequence holds, with what ends it. One
// that does not end on its line is no string: only its beginning is taken, so that
// nothing hides the rest of a text.
func endOfString(text string, from int, bell bool) int {
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return from
		case bell && text[i] == 0x07:
			return i + 1
		case text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		case strings.HasPrefix(text[i:], "\u009c"):
			return i + 2
		case text[i] == 0x1b, text[i] == 0x18, text[i] == 0x1a, text[i] == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] <= 0x9f:
			return i // It is broken off by another sequence.
		}
	}
	return from
}

// visible are the parameters of a sequence that sets colours, without what conceals;
// all says that nothing had to go. What is not understood is taken out as a whole.
func visible(parameters string) (kept string, all bool) {
	if strings.Trim(parameters, "0123456789;:") != "" {
		return "", false
	}
	fields := strings.Split(parameters, ";")
	var some []string
	for i := 0; i < len(fields); i++ {
		head, _, detailed := strings.Cut(fields[i], ":")
		n, _ := strconv.Atoi(head)
		switch {
		case n == 8:
			continue
		case (n == 38 || n == 48 || n == 58) && !detailed:
			// A colour takes the parameters that follow: 5 and its number, or 2 and three.
			size := 1
			if i+1 < len(fields) {
				size = map[string]int{"5": 3, "2": 5}[fields[i+1]]
			}
			if size <= 1 || i+size > len(fields) {
				return "", false
			}
			some = append(some, fields[i:i+size]...)
			i += size - 1
			continue
		}
		some = append(some, fields[i])
	}
	if len(some) == 0 {
		return "", false
	}
	return strings.Join(some, ";"), len(some) == len(fields)
}

// resets reports whether colours end with these parameters.
func resets(parameters string) bool {
	last := parameters[strings.LastIndexByte(parameters, ';')+1:]
	return strings.Trim(last, "0") == "" && !strings.Contains(parameters, "38") && !strings.Contains(parameters, "48")
}
