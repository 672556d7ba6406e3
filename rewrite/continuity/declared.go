package continuity

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// Declared is a request of a client that says itself what it changes: it sends
// all tools that it may ever offer, and its changes stand in the history.
type Declared struct {
	// Catalogue are all tools, in an order that never changes.
	Catalogue []Tool
	// Offered names those that are offered from the start.
	Offered []string
	// Changes are in the order of the history.
	Changes  []Change
	Messages []Message
	// Forced is the name of the tool that tool_choice demands, empty for none.
	Forced string
}

// Change is what a client declares at one place of its history.
type Change struct {
	// At is the number of messages before it.
	At          int
	Texts       []string
	Add, Remove []string
}

// Layout is how to send a declared request.
type Layout struct {
	// Tools are the entries to send.
	Tools []Entry
	// Said are the directives at their places, in ascending order.
	Said []Said
	// Prompt are texts to send behind the system prompt, where the model takes no
	// directives.
	Prompt []string
	// Unknown are the names that changes mention and that no directive can change:
	// those missing in the catalogue, and fixed ones. They are left out.
	Unknown []string
	// Places is what to remember for the next request of the conversation.
	Places Places
}

// Entry is a tool of the catalogue, by its index.
type Entry struct {
	Index    int
	Deferred bool
}

// Said is a directive behind a number of the client's messages.
type Said struct {
	After int
	Directive
}

// Places are where the changes of a conversation were put, and what was said of
// them. That stays, even if the client takes a change back: what was sent is never
// edited. The zero Places are those of a first request.
type Places struct {
	// Sent is the number of messages that have been sent.
	Sent int
	Put  []Put
	Said []Said
}

// Put is one part of a change, its texts or its tools, with its place.
type Put struct {
	At     int
	Change Hash
	Tools  bool
	After  int
}

// ErrWithheld says that a request demands a call of a tool that is not offered
// at its end.
var ErrWithheld = errors.New("the tool that is demanded is not offered")

// Declare lays out a declared request. Where the model takes tool changes, the
// whole catalogue is sent with every request, deferred but for an anchor, and an
// initial directive behind the first user message offers what is offered from
// the start. The layout of a request begins with that of the one before it.
func Declare(d *Declared, able Abilities, before Places) (*Layout, error) {
	if before.Sent > len(d.Messages) {
		// The client has cut its history: nothing of it stands where it stood.
		before = Places{}
	}
	p := declaration{Declared: d, before: before, at: make(map[string]int, len(d.Catalogue)), layout: &Layout{}}
	for i := range d.Catalogue {
		p.at[d.Catalogue[i].Name] = i
	}
	first, last := p.offered(nil), p.offered(d.Changes)
	if at, known := p.at[d.Forced]; d.Forced != "" && (!known || !last[at]) {
		return nil, ErrWithheld
	}
	switch {
	case !able.Text:
		for i := range d.Changes {
			p.layout.Prompt = append(p.layout.Prompt, d.Changes[i].Texts...)
		}
		p.flatten(last)
	case !able.Reference:
		p.say(nil, false)
		p.flatten(last)
	default:
		p.defers(first)
		p.say(first, true)
	}
	return p.layout, nil
}

// declaration is a request that is being laid out.
type declaration struct {
	*Declared
	before Places         // of the request before it
	at     map[string]int // by the tool's name
	layout *Layout
}

// offered is the set of tools that are offered from the start, or after changes.
// Names that nothing can be done about are noted.
func (d *declaration) offered(changes []Change) []bool {
	set := make([]bool, len(d.Catalogue))
	for _, name := range d.Offered {
		if i, known := d.at[name]; known {
			set[i] = true
		}
	}
	for i := range changes {
		for _, name := range slices.Concat(changes[i].Remove, changes[i].Add) {
			if !d.changeable(name) && !slices.Contains(d.layout.Unknown, name) {
				d.layout.Unknown = append(d.layout.Unknown, name)
			}
		}
		d.apply(set, &changes[i])
	}
	return set
}

func (d *declaration) changeable(name string) bool {
	i, known := d.at[name]
	return known && !d.Catalogue[i].Fixed
}

// apply makes a change of a set.
func (d *declaration) apply(set []bool, c *Change) {
	for _, name := range c.Remove {
		if d.changeable(name) {
			set[d.at[name]] = false
		}
	}
	for _, name := range c.Add {
		if d.changeable(name) {
			set[d.at[name]] = true
		}
	}
}

// flatten sends the tools that are offered and no others.
func (d *declaration) flatten(offered []bool) {
	for i, is := range offered {
		if is {
			d.layout.Tools = append(d.layout.Tools, Entry{Index: i})
		}
	}
}

// defers sends the whole catalogue. One entry at least must not be deferred: a
// fixed one is not anyway, else the first that is offered, or the first of all.
// Fixed ones that are not offered stay away, since nothing could withdraw them.
func (d *declaration) defers(offered []bool) {
	anchor := d.first(func(i int) bool { return d.Catalogue[i].Fixed && offered[i] })
	if anchor < 0 {
		anchor = d.first(func(i int) bool { return offered[i] })
	}
	if anchor < 0 {
		anchor = d.first(func(i int) bool { return !d.Catalogue[i].Fixed })
	}
	for i := range d.Catalogue {
		fixed := d.Catalogue[i].Fixed
		if fixed && !offered[i] {
			continue
		}
		d.layout.Tools = append(d.layout.Tools, Entry{Index: i, Deferred: i != anchor && !fixed})
	}
}

// first is the index of the first tool that is as asked, or -1.
func (d *declaration) first(is func(i int) bool) int {
	for i := range d.Catalogue {
		if is(i) {
			return i
		}
	}
	return -1
}

// part is a part of a change at its place.
type part struct {
	Put
	change *Change
	known  bool // it was put there by an earlier request
}

// parts are those of all changes that have a place, in the order of the history.
func (d *declaration) parts(first []bool, tools bool) (parts []part) {
	known := slices.Clone(d.before.Put)
	add := func(c *Change, ofTools bool, room gap) {
		p := part{Put: Put{At: c.At, Change: c.hash(), Tools: ofTools}, change: c}
		at := slices.IndexFunc(known, func(k Put) bool { return k.At == p.At && k.Change == p.Change && k.Tools == p.Tools })
		if p.known = at >= 0; p.known {
			p.Put = known[at]
			known = slices.Delete(known, at, at+1)
		} else {
			p.After = d.place(c.At, room)
		}
		if p.After >= 0 {
			parts = append(parts, p)
		}
	}
	if tools {
		add(d.opening(first), true, anything)
	}
	for i := range d.Changes {
		if c := &d.Changes[i]; len(c.Texts) > 0 {
			add(c, false, textOnly)
		}
		if c := &d.Changes[i]; tools && len(c.Add)+len(c.Remove) > 0 {
			add(c, true, anything)
		}
	}
	return parts
}

// say repeats what was said, and says what is new: in each gap the texts that
// belong there, and how the tools that are offered differ from those before.
func (d *declaration) say(first []bool, tools bool) {
	parts, places := d.parts(first, tools), &d.layout.Places
	places.Sent, places.Said = len(d.Messages), slices.Clip(d.before.Said)
	for _, p := range parts {
		places.Put = append(places.Put, p.Put)
	}
	start := make([]bool, len(d.Catalogue)) // what the entries alone offer
	for _, e := range d.layout.Tools {
		start[e.Index] = !e.Deferred
	}
	now := slices.Clone(start)
	for _, said := range places.Said {
		d.apply(now, &Change{Remove: said.Remove, Add: said.Add})
	}
	for _, after := range d.gaps(parts) {
		// What holds behind a gap follows from the order of the history, in which a
		// new change may stand before one that was said long ago.
		said, next := Said{After: after}, slices.Clone(start)
		for _, p := range parts {
			switch {
			case p.Tools && p.After <= after:
				d.apply(next, p.change)
			case !p.Tools && p.After == after && !p.known:
				said.Texts = append(said.Texts, p.change.Texts...)
			}
		}
		for i := range d.Catalogue {
			switch name := d.Catalogue[i].Name; {
			case !tools:
			case now[i] && !next[i]:
				said.Remove = append(said.Remove, name)
			case !now[i] && next[i]:
				said.Add = append(said.Add, name)
			}
		}
		if now = next; !said.Empty() {
			places.Said = append(places.Said, said)
		}
	}
	d.layout.Said = places.Said
}

// gaps are the places at which something may have to be said now, each once and
// in order: those of new parts, and the end.
func (d *declaration) gaps(parts []part) []int {
	var places []int
	for _, p := range parts {
		if !p.known {
			places = append(places, p.After)
		}
	}
	if tail(d.Messages) == anything {
		places = append(places, len(d.Messages))
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// opening is the change from what the entries alone offer, which is the anchor,
// to what is offered from the start.
func (d *declaration) opening(first []bool) *Change {
	c := &Change{At: -1}
	for _, e := range d.layout.Tools {
		switch name := d.Catalogue[e.Index].Name; {
		case e.Deferred && first[e.Index]:
			c.Add = append(c.Add, name)
		case !e.Deferred && !first[e.Index]:
			c.Remove = append(c.Remove, name)
		}
	}
	return c
}

// place is the first gap with room behind a place and behind all that has been
// sent. It is -1 as long as there is none.
func (d *declaration) place(at int, room gap) int {
	for after := max(at, 0); after <= len(d.Messages); after++ {
		end := after == len(d.Messages)
		if after < d.before.Sent || after == d.before.Sent && !end && after > 0 {
			continue
		}
		if tail(d.Messages[:after]) >= room && (end || d.Messages[after].Role == Assistant) {
			return after
		}
	}
	return -1
}

// hash tells changes at one place apart.
func (c *Change) hash() Hash {
	var out []byte
	for _, list := range [][]string{c.Texts, c.Remove, c.Add} {
		out = binary.AppendUvarint(out, uint64(len(list)))
		for _, text := range list {
			out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
		}
	}
	sum := sha256.Sum256(out)
	return Hash(sum[:16])
}
