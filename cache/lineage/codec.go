package lineage

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"reflect"

	"warmpath/rewrite/continuity"
)

// version is that of the encoding. Raise it when the order or the form of what
// is written changes; that a field comes, goes or changes its type is seen
// without it.
const version = 1

// header begins whatever is written here. What begins otherwise was written by
// another version of the gateway, and is as if lost.
var header = string(binary.LittleEndian.AppendUint32([]byte{version}, shape(reflect.TypeFor[continuity.State]())))

// shape is a digest of all fields of a type, by name and kind.
func shape(t reflect.Type) uint32 {
	digest := fnv.New32a()
	describe(digest, t)
	return digest.Sum32()
}

func describe(w io.Writer, t reflect.Type) {
	_, _ = io.WriteString(w, t.Kind().String())
	switch t.Kind() {
	case reflect.Struct:
		for field := range t.Fields() {
			_, _ = io.WriteString(w, " "+field.Name+" ")
			describe(w, field.Type)
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		describe(w, t.Elem())
	default:
	}
}

// encode writes states. Equal ones give equal bytes.
func encode(states []*continuity.State) []byte {
	c := codec{bytes: append(make([]byte, 0, 1024), header...)}
	c.states(&states)
	return c.bytes
}

// decode reads what encode has written. The states share memory with the value.
// It is false for anything else.
func decode(value []byte) (states []*continuity.State, ok bool) {
	if len(value) < len(header) || string(value[:len(header)]) != header {
		return nil, false
	}
	c := codec{reading: true, bytes: value, at: len(header)}
	c.states(&states)
	if c.bad || c.at != len(value) {
		return nil, false
	}
	return states, true
}

// codec reads or writes, so that each field is named in one place only. Numbers
// have variable length; lists and strings have their length before them.
type codec struct {
	reading bool
	bytes   []byte // to read from, or written so far
	at      int    // the place of reading
	bad     bool   // what was read is nothing that was written here
}

func (c *codec) states(states *[]*continuity.State) {
	list(c, states, func(s **continuity.State) {
		if c.reading {
			*s = new(continuity.State)
		}
		c.state(*s)
	})
}

func (c *codec) state(s *continuity.State) {
	c.string(&s.Conversation)
	c.number(&s.Epoch)
	c.string(&s.Model)
	c.number(&s.Sent)
	c.number(&s.Wrote)
	c.string(&s.Session)
	prior := s.Prior != nil
	c.flags(&s.Sealed, &s.Bound, &s.Drop, &prior)
	c.tools(&s.Tools, nil)
	list(c, &s.Sections, c.section)
	list(c, &s.Text, c.effective)
	list(c, &s.Edits, c.edit)
	if !prior {
		return
	}
	if c.reading {
		s.Prior = new(continuity.Prior)
	}
	c.number(&s.Prior.Edits)
	c.tools(&s.Prior.Tools, s.Tools)
	list(c, &s.Prior.Text, c.effective)
}

// tools writes a list of tools. Those that stand at the same place of a list
// which is known take one byte.
func (c *codec) tools(tools *[]continuity.FrozenTool, known []continuity.FrozenTool) {
	i := 0
	list(c, tools, func(t *continuity.FrozenTool) {
		same := !c.reading && i < len(known) && *t == known[i]
		c.flags(&same, &t.Offered, &t.Deferred, &t.Named, &t.Fixed)
		switch {
		case !same:
			c.string(&t.Name)
			c.string(&t.Family)
			c.hash(&t.Meaning)
			c.hash(&t.Exact)
		case i < len(known):
			*t = known[i]
		default:
			c.bad = true
		}
		i++
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
	n := len(e.Bytes)
	c.number(&n)
	if !c.reading {
		c.bytes = append(c.bytes, e.Bytes...)
	} else if n > 0 {
		e.Bytes = c.take(n)
	}
}

// list writes the elements of a slice; an empty one is read as nil.
func list[E any](c *codec, elements *[]E, each func(*E)) {
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
	} else {
		*s = string(c.take(n))
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
