package rewrite

import (
	"strconv"
	"strings"
)

// Path is where something stood in the client's request, in the client's own
// words. It costs no memory of its own; the zero Path is nowhere.
type Path [3]Step

// Step is one step of a Path: a member, and one of its elements unless Number,
// which counts from 1, is zero.
type Step struct {
	Name   string
	Number int32
}

// At is the path of an element of a member of what stands at p.
func (p Path) At(member string, index int) Path {
	for i := range p {
		if p[i].Name == "" {
			p[i] = Step{member, int32(index) + 1} //nolint:gosec // no request has two thousand million elements
			return p
		}
	}
	return p
}

// In is the path of a member of what stands at p.
func (p Path) In(member string) Path { return p.At(member, -1) }

// IsZero reports that nothing is known of the place.
func (p Path) IsZero() bool { return p[0].Name == "" }

// String is the path with a dot between its steps, as messages.3.content.0.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		if step.Name == "" {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step.Name)
		if step.Number > 0 {
			b.WriteByte('.')
			b.WriteString(strconv.Itoa(int(step.Number) - 1))
		}
	}
	return b.String()
}

// Locate gives the losses of a request the paths that its client knows: where it
// put an item, a part or a tool, and what it calls a setting. The name of a
// setting is given by member, as the client's dialect has it.
func (l *Losses) Locate(c *Conversation, member func(c *Conversation, setting string) string) {
	for i := range l.All {
		path := &l.All[i].Path
		if at, rest, ok := c.place(*path); !ok {
			*path = member(c, *path)
		} else if !at.IsZero() {
			if *path = at.String(); rest != "" {
				if word := member(c, "item."+rest); word != "item."+rest {
					*path += "." + word
				}
			}
		}
	}
}

// place finds what a path within the conversation means, as items.3.parts.1, and
// gives what is left of the path; ok is false for what is no such path.
func (c *Conversation) place(path string) (at Path, rest string, ok bool) {
	list, rest, _ := strings.Cut(path, ".")
	if list == "system" {
		rest = strings.TrimPrefix(rest, "parts.")
	}
	number, rest, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return Path{}, "", false
	}
	switch {
	case list == "tools" && n < len(c.Tools):
		return c.Tools[n].Path, rest, true
	case list == "system" && n < len(c.System):
		return c.System[n].Path, rest, true
	case list == "items" && n < len(c.Items):
		item := &c.Items[n]
		at = item.Path
		if inner, found := strings.CutPrefix(rest, "parts."); found {
			number, rest, _ = strings.Cut(inner, ".")
			if j, err := strconv.Atoi(number); err == nil && j >= 0 && j < len(item.Parts) && !item.Parts[j].Path.IsZero() {
				at = item.Parts[j].Path
			}
		}
		return at, rest, true
	}
	return Path{}, "", false
}
