package rewrite

import (
	"bytes"
	"slices"
	"strings"
)

// Own is the name under which Extra has a member of a reply that means nothing in
// another dialect. Clients of the same one get it as it came.
func (d Dialect) Own(name string) string { return d.String() + "/" + name }

// Owned is the value of such a member, the last that was told; nil for none.
func (d Dialect) Owned(extra []Member, name string) JSON {
	full := d.Own(name)
	for i := len(extra) - 1; i >= 0; i-- {
		if extra[i].Name == full {
			return extra[i].Value
		}
	}
	return nil
}

// EachOwned yields such members whose names begin with a group, without it, each once
// and with its last value. Members of no group have no colon in their names.
func (d Dialect) EachOwned(extra []Member, group string, yield func(name string, value JSON)) {
	for i := range extra {
		name, ok := strings.CutPrefix(extra[i].Name, d.String()+"/"+group)
		if !ok || group == "" && strings.Contains(name, ":") {
			continue
		}
		last := true
		for j := i + 1; j < len(extra) && last; j++ {
			last = extra[j].Name != extra[i].Name
		}
		if last {
			yield(name, extra[i].Value)
		}
	}
}

// Owning collects such members from the pieces of a stream, which repeats most of them
// in every one. The last value counts.
type Owning struct {
	members []owned
}

type owned struct {
	group, name string
	value       JSON
	// late says that it came, or changed, after the others were told.
	late bool
}

// Add takes a member of a group. The value is copied if it is new.
func (o *Owning) Add(group string, name, value []byte) {
	for i := range o.members {
		if m := &o.members[i]; m.name == string(name) && m.group == group {
			if !bytes.Equal(m.value, value) {
				m.value, m.late = slices.Clone(value), true
			}
			return
		}
	}
	o.members = append(o.members, owned{group, string(name), slices.Clone(value), true})
}

// Tell gives those that have come or changed since they were told last.
func (o *Owning) Tell(d Dialect) (members []Member) {
	for i := range o.members {
		if m := &o.members[i]; m.late {
			m.late = false
			members = append(members, Member{Name: d.Own(m.group + m.name), Value: m.value})
		}
	}
	return members
}
