package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// chainOwn are the members that only clients of the providers' own dialect get, where
// several calls make one reply: those of the last call count. Of what is said of the
// usage besides the hub's numbers that is so for words, such as the tier of the service;
// the rest is of one call, and cannot be added up.
type chainOwn struct {
	calls int
	// late are those that later calls have begun with, usage the words about the usage
	// of all.
	late  []Member
	usage []usageWords
}

// usageWords are the words about the usage, under the name of the member that has them.
type usageWords struct {
	name  string
	words []Member
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
		if !strings.HasSuffix(m.Name, "/usage") && !strings.HasSuffix(m.Name, "/usageMetadata") {
			continue
		}
		at := slices.IndexFunc(o.usage, func(u usageWords) bool { return u.name == m.Name })
		if at < 0 {
			at, o.usage = len(o.usage), append(o.usage, usageWords{name: m.Name})
		}
		o.usage[at].take(m.Value)
	}
}

// take takes the texts among an object's members.
func (u *usageWords) take(object JSON) {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token()
	for d.More() {
		name, err := d.Token()
		var value JSON
		if err != nil || d.Decode((*json.RawMessage)(&value)) != nil {
			return
		}
		if word, _ := name.(string); value[0] == '"' {
			u.words = slices.DeleteFunc(u.words, func(m Member) bool { return m.Name == word })
			u.words = append(u.words, Member{Name: word, Value: value})
		}
	}
}

// object is an object with these words.
func (u *usageWords) object() JSON {
	out := JSON("{")
	for i, m := range u.words {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(m.Name)
		out = append(append(append(out, name...), ':'), m.Value...)
	}
	return append(out, '}')
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
	for i := range o.usage {
		extra = append(extra, Member{Name: o.usage[i].name, Value: o.usage[i].object()})
	}
	if len(extra) == 0 {
		return e
	}
	last := *e
	last.Reply = &Reply{Extra: extra}
	return &last
}
