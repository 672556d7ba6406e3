package gemini

import (
	"fmt"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// DecodeRequest reads a client's request; its model and whether it streams stand
// in the path, and are the caller's to set. The provider is whose replies the
// conversation holds where it does not say otherwise. Raw values share memory
// with body. The error is a *rewrite.Failure.
func DecodeRequest(body []byte, provider string) (*rewrite.Conversation, error) {
	if err := splice.Valid(body); err != nil {
		return nil, refuse("the request body", "%v; send one JSON object", err)
	}
	r := requestReader{provider: provider, names: map[string]string{}}
	r.c.Dialect, r.c.Items = rewrite.Gemini, rewrite.RoomFor(len(body))
	contents := false
	w := splice.Walk(body)
	if !within(&w, func(name string) {
		switch {
		case name != "contents":
			r.member(name, w.Value())
		case r.err == nil:
			contents = true
			r.contents(&w)
		}
	}) {
		return nil, refuse("the request body", "not a JSON object; send one")
	}
	if !contents {
		r.refuse("contents", "a request needs an array of contents")
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.c, nil
}

// refuse is the failure of a request that is wrong at a path.
func refuse(path, format string, args ...any) *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: path + ": " + fmt.Sprintf(format, args...)}
}

// requestReader reads one request.
type requestReader struct {
	c        rewrite.Conversation
	provider string
	// names are those of the tools by the identifiers of their calls, and nameless
	// the identifiers of calls that had none and are not answered yet, by the name of
	// the tool.
	names    map[string]string
	nameless map[string][]string
	calls    int
	parts    []part // of the content that is read
	err      *rewrite.Failure
}

func (r *requestReader) refuse(path, format string, args ...any) {
	if r.err == nil {
		r.err = refuse(path, format, args...)
	}
}

// member reads a member of the request.
func (r *requestReader) member(name string, value []byte) {
	switch name {
	case "model":
		r.c.Model = splice.Text(value)
	case "systemInstruction":
		r.instruction(value)
	case "tools":
		r.each(rewrite.Path{}, "tools", value, func(at rewrite.Path, entry []byte) {
			if !members(entry, func(name string, value []byte) { r.tool(at, name, value) }) {
				r.refuse(at.String(), "not a tool; send an object")
			}
		})
	case "toolConfig":
		r.toolConfig(value)
	case "generationConfig":
		members(value, r.generation)
	case "serviceTier":
		r.c.ServiceTier = splice.Text(value)
	default:
		r.c.Extra = append(r.c.Extra, rewrite.Member{Name: name, Value: value})
	}
}

// each reads the elements of a member that is an array, of what stands at a path.
func (r *requestReader) each(at rewrite.Path, member string, array []byte, read func(at rewrite.Path, element []byte)) {
	i := 0
	if !splice.Elements(array, func(element []byte) bool {
		read(at.At(member, i), element)
		i++
		return r.err == nil
	}) {
		r.refuse(at.In(member).String(), "not an array; send one")
	}
}

// instruction reads the system instruction, whose parts may be one.
func (r *requestReader) instruction(value []byte) {
	read := func(at rewrite.Path, raw []byte) {
		if p, ok := r.part(at, raw); ok {
			r.c.System = append(r.c.System, r.said("", &p))
		}
	}
	members(value, func(name string, value []byte) {
		switch {
		case name != "parts":
		case value[0] == '{':
			read(rewrite.Path{}.In("systemInstruction").In("parts"), value)
		default:
			r.each(rewrite.Path{}.In("systemInstruction"), "parts", value, read)
		}
	})
}

func (r *requestReader) part(at rewrite.Path, raw []byte) (part, bool) {
	p, ok := splitPart(raw)
	if p.at = at; !ok {
		r.refuse(at.String(), "not a part; send an object")
	}
	return p, ok
}

// contents reads the history.
func (r *requestReader) contents(w *splice.Walker) {
	i := 0
	if !w.Elements(func() {
		r.content(rewrite.Path{}.At("contents", i), w)
		i++
	}) {
		r.refuse("contents", "not an array; send one")
	}
}

// content reads one content, whose role may stand behind its parts.
func (r *requestReader) content(at rewrite.Path, w *splice.Walker) {
	role, parts, list := "user", r.parts[:0], false
	if !within(w, func(name string) {
		switch name {
		case "role":
			role = splice.Text(w.Value())
		case "parts":
			parts = parts[:0]
			list = w.Elements(func() {
				last := len(parts)
				parts = append(parts, part{at: at.At("parts", last)})
				if !parts[last].read(w) {
					r.refuse(parts[last].at.String(), "not a part; send an object")
				}
			})
		}
	}) {
		r.refuse(at.String(), "not a content; send an object")
		return
	}
	if !list {
		r.refuse(at.In("parts").String(), "not an array; send one")
	}
	first := len(r.c.Items)
	if role == "model" && first > 0 && r.c.Items[first-1].Side() != rewrite.RoleAssistant {
		r.nameless = nil // nobody has answered the ones before
	}
	for i := range parts {
		switch p := &parts[i]; {
		case r.err != nil:
			return
		case role == "model":
			r.model(p, first)
		case role == "user" || role == "function" || role == "":
			r.user(p, first)
		default:
			r.refuse(p.at.String(), `stands in a content of no role; send "user" or "model"`)
		}
	}
	r.parts = parts
}

// join gives the message that a part joins: the last item of its content, if
// that is one.
func (r *requestReader) join(first int, at rewrite.Path, role rewrite.Role) *rewrite.Item {
	if last := len(r.c.Items) - 1; last >= first && r.c.Items[last].Kind == rewrite.ItemMessage {
		return &r.c.Items[last]
	}
	return r.add(rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: role})
}

func (r *requestReader) add(item rewrite.Item) *rewrite.Item {
	r.c.Items = append(r.c.Items, item)
	return &r.c.Items[len(r.c.Items)-1]
}

// user reads a part of the user's.
func (r *requestReader) user(p *part, first int) {
	if p.kind != "functionResponse" {
		message := r.join(first, p.at, rewrite.RoleUser)
		message.Parts = append(message.Parts, r.said("", p))
		return
	}
	f := &p.fields
	item := rewrite.Item{Kind: rewrite.ItemResult, Path: p.at, Role: rewrite.RoleUser, Payload: payload("", "functionResponse", p.raw)}
	item.Call = rewrite.Call{ID: splice.Text(f.id), Name: splice.Text(f.name)}
	if item.Call.ID == "" {
		item.Call.ID = r.answered(item.Call.Name)
	}
	text, failed := readResponse(f.response)
	if item.Failed = failed; text != "" {
		item.Parts = []rewrite.Part{{Path: p.at, Text: text}}
	}
	i := 0
	splice.Elements(f.parts, func(raw []byte) bool {
		if media, ok := splitPart(raw); ok {
			media.at = p.at.At("functionResponse.parts", i)
			item.Parts = append(item.Parts, r.said("", &media))
		}
		i++
		return true
	})
	r.add(item)
}

// answered is the identifier of the first call of a name that has none of its
// own and is not answered yet.
func (r *requestReader) answered(name string) string {
	waiting := r.nameless[name]
	if len(waiting) == 0 {
		return made + "none"
	}
	r.nameless[name] = waiting[1:]
	return waiting[0]
}

// readResponse is what a function gave. What is one text stands under a name.
func readResponse(response []byte) (text string, failed bool) {
	n := 0
	members(response, func(name string, value []byte) {
		n++
		said := false
		if name == "output" || name == "result" || name == "error" {
			text, said = splice.TextOf(value)
		}
		if failed = name == "error"; !said {
			n++
		}
	})
	if n == 0 {
		return "", false
	}
	if n > 1 {
		return string(response), false
	}
	return text, failed
}

// said reads a part that is content. The provider is that of the model's own,
// and empty for the client's.
func (r *requestReader) said(provider string, p *part) rewrite.Part {
	switch p.kind {
	case "text":
		out := rewrite.Part{Path: p.at, Text: splice.Text(p.data)}
		if p.more || p.signature != nil {
			out.Payload = payload(provider, "part", p.raw)
		}
		return out
	case "inlineData", "fileData":
		out, known := mediaPart(p)
		out.Path = p.at
		if !known {
			out.Payload = payload(provider, "part", p.raw)
		}
		return out
	}
	return rewrite.Part{Kind: rewrite.PartOpaque, Path: p.at, Payload: payload(provider, "part", p.raw)}
}

// model reads a part of the model's.
func (r *requestReader) model(p *part, first int) {
	held, foreign := opened(p.signature)
	named := ""
	for _, before := range held.before {
		if before.Format == callName {
			named = splice.Text(before.Value)
			continue
		}
		r.thought(&part{kind: "text", data: []byte(`""`)}, before, true)
	}
	carried := held.own
	if foreign && carried.Empty() {
		p.signature, foreign = nil, false
	}
	switch {
	case p.thought || p.signature != nil && (p.kind == "" || p.kind == "text" && len(p.data) == 2):
		r.thought(p, carried, foreign)
	case p.kind == "functionCall":
		r.call(p, named, carried, foreign)
	case p.kind == "text" || p.kind == "inlineData" || p.kind == "fileData":
		message := r.join(first, p.at, rewrite.RoleAssistant)
		said := r.said(r.provider, p)
		if foreign {
			said.Payload = carried
		}
		message.Parts = append(message.Parts, said)
	default:
		item := rewrite.Item{Kind: rewrite.ItemOpaque, Path: p.at, Role: rewrite.RoleAssistant, Payload: payload(r.provider, "part", p.raw)}
		if hosted, ok := readHosted(p); ok {
			item.Kind, item.ID, item.Hosted = rewrite.ItemHosted, hosted.ID, hosted
		}
		r.add(item)
	}
}

// thought reads a thought, or a signature that stands alone.
func (r *requestReader) thought(p *part, carried rewrite.Payload, foreign bool) {
	item := rewrite.Item{Kind: rewrite.ItemReasoning, Path: p.at, Role: rewrite.RoleAssistant}
	if text := splice.Text(p.data); text != "" && p.kind == "text" {
		item.Parts = []rewrite.Part{{Kind: rewrite.PartSummary, Path: p.at, Text: text}}
	}
	var before *rewrite.Item // a thought that nothing signs yet
	if last := len(r.c.Items) - 1; last >= 0 && r.c.Items[last].Kind == rewrite.ItemReasoning && r.c.Items[last].Payload.Empty() {
		before = &r.c.Items[last]
	}
	switch {
	case foreign && carried.Format == plainReasoning:
		if len(item.Parts) == 0 {
			return
		}
	case foreign && len(item.Parts) == 0 && before != nil && isReasoning(&carried):
		// A signature behind its thought.
		before.Payload = carried
		return
	case foreign:
		if item.Payload = carried; len(item.Parts) == 0 && !isReasoning(&carried) {
			item.Kind = rewrite.ItemOpaque
		}
	case p.signature != nil || p.more || p.kind != "text":
		item.Payload = payload(r.provider, "thought", p.raw)
	case before != nil:
		before.Parts = append(before.Parts, item.Parts...)
		return
	}
	r.add(item)
}

// call reads a call of a client's function. Its identifier may have come in its
// signature only.
func (r *requestReader) call(p *part, named string, carried rewrite.Payload, foreign bool) {
	f := &p.fields
	item := rewrite.Item{Kind: rewrite.ItemCall, Path: p.at, Role: rewrite.RoleAssistant}
	item.Call = rewrite.Call{ID: splice.Text(f.id), Name: splice.Text(f.name), Arguments: f.args}
	if len(f.args) == 0 {
		item.Call.Arguments = rewrite.JSON("{}")
	}
	if item.Call.ID == "" {
		if item.Call.ID = named; named == "" {
			item.Call.ID = made + strconv.Itoa(r.calls)
		}
		if r.nameless == nil {
			r.nameless = map[string][]string{}
		}
		r.nameless[item.Call.Name] = append(r.nameless[item.Call.Name], item.Call.ID)
	}
	r.calls++
	switch {
	case foreign:
		item.Payload = carried
	case p.signature != nil || p.more || f.more:
		item.Payload = payload(r.provider, "functionCall", p.raw)
	}
	r.add(item)
}
