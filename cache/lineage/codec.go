package lineage

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"warmpath/rewrite/continuity"
)

// encode writes a state. Equal ones give equal bytes. What is left out, because
// other states will have it in common, is given to apart under its hash; it is
// valid during the call.
func encode(s *continuity.State, apart func(continuity.Hash, []byte)) []byte {
	c := codec{apart: apart}
	c.state(s)
	return c.bytes
}

// decode reads what encode has written, and what was kept apart through known.
// The state shares memory with both. If any of that is missing there is no
// state yet: add what the given hashes stand for, and decode again. It is not ok
// for anything else.
func decode(record []byte, known func(continuity.Hash) []byte) (s *continuity.State, missing []continuity.Hash, ok bool) {
	c := codec{reading: true, bytes: record, known: known}
	s = new(continuity.State)
	if c.state(s); c.bad || c.at != len(record) {
		return nil, nil, false
	}
	return s, c.missing, true
}

// codec reads or writes, so that each field is named in one place only. Numbers
// have variable length; lists and strings have their length before them.
type codec struct {
	reading bool
	bytes   []byte // to read from, or written so far
	at      int    // the place of reading
	bad     bool   // what was read is nothing that was written here
	passing bool   // strings are read over

	apart   func(continuity.Hash, []byte)
	known   func(continuity.Hash) []byte
	missing []continuity.Hash
}

// state has first what two states that are the same may differ in.
func (c *codec) state(s *continuity.State) {
	c.names(s)
	c.number(&s.Sent)
	c.number(&s.Wrote)
	prior := s.Prior != nil
	c.flags(&s.Sealed, &s.Bound, &s.Drop, &prior, &s.Leveled)
	c.tools(&s.Tools)
	c.part(func() {
		c.string(&s.Model)
		c.string(&s.Session)
		slice(c, &s.Sections, c.section)
		slice(c, &s.Text, c.effective)
	})
	c.part(func() { slice(c, &s.Edits, c.edit) })
	c.string(&s.Effort)
	c.string(&s.Asked)
	c.echoes(&s.Echoes)
	c.number(&s.Echoed.Replies)
	c.number(&s.Echoed.Reminders)
	if !prior {
		return
	}
	if c.reading {
		s.Prior = new(continuity.Prior)
	}
	c.number(&s.Prior.Edits)
	slice(c, &s.Prior.Withdrawn, func(withdrawn *bool) { c.flags(withdrawn) })
	c.tools(&s.Prior.Tools)
	c.part(func() { slice(c, &s.Prior.Text, c.effective) })
}

// names are those of the conversation, and the request that made the state.
func (c *codec) names(s *continuity.State) {
	c.string(&s.Conversation)
	c.number(&s.Epoch)
	last := s.Last != nil
	if c.flags(&last); !last {
		return
	}
	if c.passing {
		var turn continuity.Turn
		c.turn(&turn)
		return
	}
	if c.reading {
		s.Last = new(continuity.Turn)
	}
	c.turn(s.Last)
}

func (c *codec) turn(t *continuity.Turn) {
	c.number(&t.Started)
	c.number(&t.Lifetime)
	c.number(&t.Cached)
	c.flags(&t.Reported, &t.Asked)
	c.string(&t.Previous)
	c.string(&t.Reply)
	c.partOver(shorter, func() {
		for i := range t.Params {
			c.digest(&t.Params[i])
		}
		c.digest(&t.Betas)
		c.digest(&t.Own)
		c.digest(&t.Tools)
		c.digest(&t.System)
	})
	c.spelled(&t.Spelled)
}

// spelling is how many bytes that grow with each message stand together, once
// there are so many, and then how many of those that are left: what was written
// of earlier messages stays the same.
var spelling = [...]int{512, 64}

func (c *codec) spelled(text *[]byte) {
	n := len(*text)
	if c.number(&n); c.reading {
		if c.bad || n < 0 || n > maxState {
			c.bad = true
			return
		}
		if *text = nil; n > 0 {
			*text = make([]byte, n)
		}
	}
	rest := *text
	c.partOver(shorter, func() {
		for _, size := range spelling {
			for ; len(rest) >= size; rest = rest[size:] {
				c.partOver(0, func() { c.raw(rest[:size]) })
			}
		}
	})
	c.raw((*text)[n-n%spelling[len(spelling)-1]:]) // also where what is before it is missing
}

// raw reads or writes bytes of a known number.
func (c *codec) raw(text []byte) {
	if c.reading {
		copy(text, c.take(len(text)))
	} else {
		c.bytes = append(c.bytes, text...)
	}
}

// inlined is the length in bytes up to which a part stands in the state: less is
// not worth an entry of its own. What stays the same for a whole conversation is
// worth it when it is shorter.
const inlined, shorter = 128, 48

// part reads or writes what changes seldom from one request to the next. Where
// it is long, its hash stands in the state.
func (c *codec) part(each func()) { c.partOver(inlined, each) }

func (c *codec) partOver(limit int, each func()) {
	apart := false
	start := len(c.bytes)
	if c.flags(&apart); !c.reading {
		each()
		if part := c.bytes[start+1:]; len(part) > limit {
			sum := sha256.Sum256(part)
			hash := continuity.Hash(sum[:16])
			c.apart(hash, part)
			apart, c.bytes = true, c.bytes[:start]
			c.flags(&apart)
			c.hash(&hash)
		}
		return
	}
	if !apart {
		each()
		return
	}
	var hash continuity.Hash
	if c.hash(&hash); c.bad {
		return
	}
	part := c.known(hash)
	if part == nil {
		c.missing = append(c.missing, hash)
		return
	}
	rest, at := c.bytes, c.at
	c.bytes, c.at = part, 0
	each()
	c.bad = c.bad || c.at != len(part)
	c.bytes, c.at = rest, at
}

func (c *codec) tools(tools *[]continuity.FrozenTool) {
	c.part(func() {
		slice(c, tools, func(t *continuity.FrozenTool) {
			c.string(&t.Name)
			c.string(&t.Family)
			c.hash(&t.Meaning)
			c.hash(&t.Exact)
			c.flags(&t.Offered, &t.Deferred, &t.Named, &t.Fixed)
		})
	})
}

func (c *codec) section(s *continuity.FrozenSection) {
	c.hash(&s.Meaning)
	c.hash(&s.Exact)
	c.flags(&s.Volatile)
}

func (c *codec) effective(e *continuity.Effective) {
	c.hash(&e.Meaning)
	c.hash(&e.Text)
}

func (c *codec) edit(e *continuity.Edit) {
	c.number(&e.After)
	c.part(func() { c.text(&e.Bytes) })
}

// text writes bytes; none are read as nil.
func (c *codec) text(text *[]byte) {
	n := len(*text)
	c.number(&n)
	if !c.reading {
		c.bytes = append(c.bytes, *text...)
	} else if bytes := c.take(n); n > 0 {
		*text = bytes
	}
}

// digest takes one byte where there is none.
func (c *codec) digest(d *uint64) {
	has := *d != 0
	if c.flags(&has); !has {
		return
	}
	if !c.reading {
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, *d)
	} else if read := c.take(8); len(read) == 8 {
		*d = binary.LittleEndian.Uint64(read)
	}
}

// full is how many echoes stand together. They never change, as long as none of
// their reminders does; the newest stand in the state itself.
const full = 32

func (c *codec) echoes(echoes *[]continuity.Echo) {
	n := len(*echoes)
	if c.number(&n); c.reading {
		if c.bad || n < 0 || n/full+n%full > len(c.bytes)-c.at {
			c.bad = true
			return
		}
		if *echoes = nil; n > 0 {
			*echoes = make([]continuity.Echo, n)
		}
	}
	for group := range slices.Chunk(*echoes, full) {
		if len(group) == full {
			c.part(func() { c.group(group) })
		} else {
			c.group(group)
		}
	}
}

// group reads or writes echoes of which each is at a later place.
func (c *codec) group(echoes []continuity.Echo) {
	last := 0
	for i := range echoes {
		e := &echoes[i]
		step := e.At - last
		c.number(&step)
		last += step
		e.At = last
		reminds := len(e.Reminders) > 0
		c.flags(&e.Kept, &reminds)
		c.hash(&e.Exact)
		if reminds {
			slice(c, &e.Reminders, func(n *continuity.Noted) {
				c.hash(&n.Meaning)
				c.flags(&n.Inner, &n.Withdrawn)
			})
		}
	}
}

// slice writes the elements of a slice; an empty one is read as nil.
func slice[E any](c *codec, elements *[]E, each func(*E)) {
	n := len(*elements)
	if c.number(&n); !c.reading {
		for i := range *elements {
			each(&(*elements)[i])
		}
		return
	}
	// Each takes a byte at least.
	if c.bad || n < 0 || n > len(c.bytes)-c.at {
		c.bad = true
		return
	}
	if n > 0 {
		*elements = make([]E, n)
	}
	for i := 0; i < n && !c.bad; i++ {
		each(&(*elements)[i])
	}
}

func (c *codec) number(n *int) {
	if !c.reading {
		c.bytes = binary.AppendVarint(c.bytes, int64(*n))
		return
	}
	read, size := binary.Varint(c.bytes[c.at:])
	if size <= 0 || int64(int(read)) != read {
		c.bad, *n = true, 0
		return
	}
	c.at += size
	*n = int(read)
}

func (c *codec) string(s *string) {
	n := len(*s)
	if c.number(&n); !c.reading {
		c.bytes = append(c.bytes, *s...)
	} else if text := c.take(n); !c.passing {
		*s = string(text)
	}
}

func (c *codec) hash(h *continuity.Hash) {
	if !c.reading {
		c.bytes = append(c.bytes, h[:]...)
	} else {
		copy(h[:], c.take(len(h)))
	}
}

// flags takes at most eight.
func (c *codec) flags(flags ...*bool) {
	if !c.reading {
		var bits byte
		for i, flag := range flags {
			if *flag {
				bits |= 1 << i
			}
		}
		c.bytes = append(c.bytes, bits)
		return
	}
	if bits := c.take(1); len(bits) == 1 {
		for i, flag := range flags {
			*flag = bits[0]>>i&1 == 1
		}
	}
}

// take gives the next bytes, or nil and marks the text as bad.
func (c *codec) take(n int) []byte {
	if c.bad || n < 0 || n > len(c.bytes)-c.at {
		c.bad = true
		return nil
	}
	c.at += n
	return c.bytes[c.at-n : c.at : c.at]
}
