package anthropic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// form reads JSON text once, front to back, and writes it in canonical form: no
// insignificant white space, the members of an object in the order of their
// names, strings and numbers spelled in one way. The order of names is the
// descending one, in which most clients write anyway: type before text, role
// before content. What it reads to the end without a failure is JSON.
//
// Beside the canonical form there is the layout, which is all that the form
// leaves out: the text itself without its cuts and without long strings that
// are canonical already, so that most bytes are hashed only once.
type form struct {
	text []byte
	at   int
	msg  string // what is wrong at at, once anything is

	out   []byte
	spare []byte
	// members are those of all objects that are open, innermost last.
	members []member
	depth   int

	layout []byte
	// from is where the element begins.
	from int
	// gaps are what the layout leaves out, and cuts those of them that verdicts
	// have cut, in the order of the text. own is that of the object that was read
	// last, if it has any.
	gaps []gap
	cuts []rewrite.Span
	own  rewrite.Span
	// whole keeps long strings in the layout, for what the form leaves out.
	whole bool

	// recall is what was read before, nil for nothing.
	recall *Recall
	// seen are the messages so far: they are copied once their number is known.
	seen []continuity.Message
	// open are the ids of hosted calls in the message that is being read.
	open map[string]struct{}
}

// member is one member in the canonical form: its name, and where it ends.
type member struct{ start, name, end int }

// gap is a span that the layout leaves out. Of a string its length stays.
type gap struct {
	rewrite.Span
	text bool
}

// verdict is what becomes of a member of an object.
type verdict uint8

const (
	keep verdict = iota
	// drop leaves the member out of the canonical form only.
	drop
	// cut leaves it out of the layout as well, with the comma that goes with it.
	cut
)

// maxNesting bounds the depth of a request that is read: putting members in
// order copies them once for each level. What lies deeper, which no known agent
// sends, goes out as it came.
const maxNesting = 64

// elided is the length from which a string is left out of the layout; a shorter
// one costs more to leave out than to hash.
const elided = 64

func (f *form) fail(msg string) {
	if f.msg == "" {
		f.msg = msg
	}
}

// err is the error for what went wrong, or nil.
func (f *form) err() error {
	if f.msg == "" {
		return nil
	}
	return fmt.Errorf("reading a Messages request: byte %d: %s", f.at, f.msg)
}

// space steps over white space and gives the byte behind it, zero at the end.
func (f *form) space() byte {
	for f.at < len(f.text) {
		switch c := f.text[f.at]; c {
		case ' ', '\n', '\t', '\r':
			f.at++
		default:
			return c
		}
	}
	return 0
}

// value writes the value that stands here, whatever it is.
func (f *form) value() {
	if f.msg != "" {
		return
	}
	switch c := f.space(); {
	case c == '{':
		f.object(nil)
	case c == '[':
		f.array(nil)
	case c == '"':
		f.string(true)
	default:
		f.scalar()
	}
}

// scalar writes a number or a literal.
func (f *form) scalar() {
	end := splice.Scalar(f.text, f.at)
	if end < 0 {
		f.fail("a value is due")
		return
	}
	if word := f.text[f.at:end]; word[0] == '-' || word[0] <= '9' {
		f.out = number(f.out, word)
	} else {
		f.out = append(f.out, word...)
	}
	f.at = end
}

// null reports whether the value that stands here is null.
func (f *form) null() bool { return f.space() == 'n' }

// enter and leave bound the nesting, since this reader recurses.
func (f *form) enter(bracket byte) bool {
	if f.msg != "" {
		return false
	}
	if f.space() != bracket {
		f.fail("a " + string(rune(bracket)) + " is due")
		return false
	}
	if f.depth++; f.depth > maxNesting {
		f.fail("nested too deep")
		return false
	}
	f.at++
	f.out, f.own = append(f.out, bracket), rewrite.Span{}
	return true
}

func (f *form) leave(bracket byte) {
	f.depth--
	f.at++
	f.out = append(f.out, bracket)
}

// array writes the array that opens here. It calls read at each element, which
// has to write it; a nil read takes any value. It gives the number of elements.
func (f *form) array(read func()) (n int) {
	if !f.enter('[') {
		return 0
	}
	if f.space() == ']' {
		f.leave(']')
		return 0
	}
	for f.msg == "" {
		if n++; n > 1 {
			f.out = append(f.out, ',')
		}
		if f.space(); read == nil {
			f.value()
		} else {
			read()
		}
		if f.msg != "" {
			break
		}
		switch c := f.space(); {
		case c == ',':
			f.at++
		case c == ']':
			f.leave(']')
			return n
		default:
			f.fail("a comma or ] is due")
		}
	}
	return n
}

// object writes the object that opens here and gives the number of members that
// it kept. It calls read at the value of each member, which has to write the
// value and says what becomes of the member; the name is valid until then. An
// object with a read is one of the dialect's, in which no name may stand twice:
// parsers differ on which of the two counts. A nil read keeps everything.
func (f *form) object(read func(name []byte) verdict) (kept int) {
	if !f.enter('{') {
		return 0
	}
	if f.space() == '}' {
		f.leave('}')
		return 0
	}
	base, sorted := len(f.members), true
	first, end := -1, -1 // where a cut at the front begins; where the last uncut value ends
	var own rewrite.Span
	for f.msg == "" {
		if f.space() != '"' {
			f.fail("a member name is due")
			break
		}
		name := f.at
		if first >= 0 {
			own = f.cut(first, name)
			first = -1
		}
		comma := len(f.out)
		if len(f.members) > base {
			f.out = append(f.out, ',')
		}
		m, what := f.member(read)
		if f.msg != "" {
			break
		}
		switch {
		case what == cut && own.Len() > 0:
			f.fail("a cache mark stands twice")
		case what == cut && end < 0:
			first = name
		case what == cut:
			own = f.cut(end, f.at)
		default:
			end = f.at
		}
		if what != keep {
			f.out = f.out[:comma]
		} else {
			if before := len(f.members) - 1; sorted && before >= base {
				order := bytes.Compare(f.name(f.members[before]), f.name(m))
				sorted = order > 0 || order == 0 && read == nil
			}
			f.members = append(f.members, m)
		}
		switch c := f.space(); {
		case c == ',':
			f.at++
		case c == '}':
			if first >= 0 {
				own = f.cut(first, f.at)
			}
			if kept = len(f.members) - base; !sorted {
				f.sort(f.members[base:], read != nil)
			}
			f.members = f.members[:base]
			f.leave('}')
			f.own = own
			return kept
		default:
			f.fail("a comma or } is due")
		}
	}
	return 0
}

// member writes one member.
func (f *form) member(read func(name []byte) verdict) (m member, what verdict) {
	m.start = len(f.out)
	f.string(false)
	m.name = len(f.out)
	if f.msg == "" && f.space() != ':' {
		f.fail("a colon is due")
	}
	if f.msg != "" {
		return m, keep
	}
	f.at++
	f.out = append(f.out, ':')
	if f.space(); read == nil {
		f.value()
	} else {
		what = read(f.out[m.start+1 : m.name-1])
	}
	m.end = len(f.out)
	return m, what
}

func (f *form) name(m member) []byte { return f.out[m.start:m.name] }

// sort brings the members of the object that ends here in order. What stands
// between the first and the last stays as long as it is: they and their commas.
func (f *form) sort(members []member, unique bool) {
	start := members[0].start
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(f.name(b), f.name(a)) })
	f.spare = f.spare[:0]
	for i, m := range members {
		if i > 0 {
			f.spare = append(f.spare, ',')
			if unique && bytes.Equal(f.name(members[i-1]), f.name(m)) {
				f.fail("a member name stands twice")
			}
		}
		f.spare = append(f.spare, f.out[m.start:m.end]...)
	}
	f.out = append(f.out[:start], f.spare...)
}

// string writes the string that stands here. Escapes that have no other short
// spelling stay, so that most strings are copied as they are.
func (f *form) string(elide bool) {
	if f.msg != "" {
		return
	}
	start := f.at + 1
	f.out = append(f.out, '"')
	from := start
	for i := start; ; {
		if i = plain(f.text, i); i >= len(f.text) {
			f.fail("a string does not end")
			return
		}
		switch f.text[i] {
		case '"':
			f.out = append(append(f.out, f.text[from:i]...), '"')
			if elide && from == start && i-start >= elided && !f.whole {
				f.elide(start, i)
			}
			f.at = i + 1
			return
		case '\\':
			if shortEscape(f.text, i+1) {
				i += 2
				continue
			}
			f.out = append(f.out, f.text[from:i]...)
			n := 0
			if f.out, n = respell(f.out, f.text[i:]); n == 0 {
				f.fail("an escape is no JSON")
				return
			}
			i += n
			from = i
		default:
			f.fail("a control character stands in a string")
			return
		}
	}
}

// elide leaves a string's content out of the layout.
func (f *form) elide(start, end int) {
	f.gaps = append(f.gaps, gap{rewrite.Span{Start: start, End: end}, true})
}

// cut leaves a span out of the layout.
func (f *form) cut(start, end int) rewrite.Span {
	span := rewrite.Span{Start: start, End: end}
	f.gaps = append(f.gaps, gap{span, false})
	f.cuts = append(f.cuts, span)
	return span
}

// begin starts an element of its own and gives where its canonical form begins.
func (f *form) begin() (start int) {
	f.gaps, f.cuts, f.from = f.gaps[:0], f.cuts[:0], f.at
	return len(f.out)
}

// end gives the hashes of the element and forgets its canonical form. They are
// equal if that is how the element is written, without its cuts.
func (f *form) end(start int) (meaning, exact continuity.Hash) {
	meaning = sum(f.out[start:])
	if f.canonical(start) {
		f.out = f.out[:start]
		return meaning, meaning
	}
	f.lay(&meaning)
	exact = sum(f.layout)
	f.out = f.out[:start]
	return meaning, exact
}

// canonical reports whether the element is written in its canonical form.
func (f *form) canonical(start int) bool {
	form, at := f.out[start:], f.from
	for _, s := range f.cuts {
		n := s.Start - at
		if n > len(form) || !bytes.Equal(form[:n], f.text[at:s.Start]) {
			return false
		}
		form, at = form[n:], s.End
	}
	return bytes.Equal(form, f.text[at:f.at])
}

// lay makes the layout, which together with the canonical form determines the
// text of the element without its cuts. A string that is left out is a zero
// byte, which cannot stand there otherwise, and its length, because strings can
// be joined in the canonical form. Another zero byte tells the layout from a
// canonical form.
func (f *form) lay(meaning *continuity.Hash) {
	f.layout = append(f.layout[:0], 0)
	at := f.from
	for _, g := range f.gaps {
		if f.layout = append(f.layout, f.text[at:g.Start]...); g.text {
			f.layout = strconv.AppendInt(append(f.layout, 0), int64(g.Len()), 10)
		}
		at = g.End
	}
	f.layout = append(f.layout, f.text[at:f.at]...)
	f.layout = append(f.layout, meaning[:]...)
}

// plain gives the offset of the first byte of a string that is not simply
// itself: a quote, a backslash or a control character.
func plain(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		quote, slash := word^('"'*ones), word^('\\'*ones)
		// The lowest mark of each term is right, and only that is looked at.
		found := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((word - ' '*ones) &^ word)
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}
