package rewrite

import (
	"slices"
	"strings"
)

// chainOwn are the members that only clients of the providers' own dialect get, where
// several calls make one reply: those of the last call count. What is said of the usage
// besides its numbers is of one call, and cannot be added up.
type chainOwn struct {
	calls int
	// late are those that later calls have begun with, usage the names of what is said
	// of the usage of any.
	late  []Member
	usage []string
}

// begin takes those that a call begins with.
func (o *chainOwn) begin(r *Reply) {
	if o.calls++; r == nil {
		return
	}
	o.note(r.Extra)
	if o.calls > 1 {
		for _, m := range r.Extra {
			if strings.Contains(m.Name, "/") {
				o.late = append(o.late, Member{m.Name, slices.Clone(m.Value), m.Said})
			}
		}
	}
}

func (o *chainOwn) note(extra []Member) {
	for _, m := range extra {
		if strings.HasSuffix(m.Name, "/usage") || strings.HasSuffix(m.Name, "/usageMetadata") {
			o.usage = append(o.usage, m.Name)
		}
	}
}

// end is the end of the whole reply.
func (o *chainOwn) end(e *Event) *Event {
	if o.calls < 2 {
		return e
	}
	extra := slices.Clone(o.late)
	if e.Reply != nil {
		o.note(e.Reply.Extra)
		extra = append(extra, e.Reply.Extra...)
	}
	for _, name := range o.usage {
		extra = append(extra, Member{Name: name, Value: JSON("{}")})
	}
	if len(extra) == 0 {
		return e
	}
	last := *e
	last.Reply = &Reply{Extra: extra}
	return &last
}
