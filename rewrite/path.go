package rewrite

import (
	"strconv"
	"strings"
)

// Path is where something stood in the client's request, in the client's own
// words. Items and parts have one each, so it is small; the zero Path is nowhere.
type Path struct {
	// Members are the steps, by their place in memberNames, and Elements the
	// elements of each that is an array, counted from 1.
	Members  [3]uint8
	Elements [3]int32
}

// memberNames are the members that paths lead through.
var memberNames = [...]string{
	"", "messages", "content", "tool_calls", "tools", "system", "input", "output", "summary", "instructions", "contents", "parts",
	"systemInstruction", "functionDeclarations", "functionResponse.parts", "reasoning_content", "reasoning", "reasoning_details",
	"refusal", "audio", "function_call", "functions", "web_search_options",
	"googleSearch", "urlContext", "codeExecution", "fileSearch", "googleMaps", "computerUse", "mcpServers",
}

// At is the path of an element of a member of what stands at p. A member that no
// dialect is known to have is left out.
func (p Path) At(member string, index int) Path {
	for name := 1; name < len(memberNames); name++ {
		if memberNames[name] != member {
			continue
		}
		for i := range p.Members {
			if p.Members[i] == 0 {
				p.Members[i], p.Elements[i] = uint8(name), int32(index)+1 //nolint:gosec // no request has two thousand million elements
				break
			}
		}
		break
	}
	return p
}

// In is the path of a member of what stands at p.
func (p Path) In(member string) Path { return p.At(member, -1) }

// IsZero reports that nothing is known of the place.
func (p Path) IsZero() bool { return p.Members[0] == 0 }

// String is the path with a dot between its steps, as messages.3.content.0.
func (p Path) String() string {
	var b strings.Builder
	for i, name := range p.Members {
		if name == 0 {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(memberNames[name])
		if p.Elements[i] > 0 {
			b.WriteByte('.')
			b.WriteString(strconv.Itoa(int(p.Elements[i]) - 1))
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
