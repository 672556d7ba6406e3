package anthropic

// Directive is what the model is told of a change, in one system message.
type Directive struct {
	// Texts are changes of the instructions.
	Texts []string
	// Remove and Add name tools to withdraw and to offer.
	Remove, Add []string
	// Define are whole definitions of tools to offer, as JSON objects.
	Define [][]byte
	// Effort, unless empty, is the effort from the next turn of the user on.
	Effort string
}

// Render gives the message of a directive: texts first, then removals,
// additions and definitions, each in the order given, and always in the same
// bytes. Empty texts are left out, since the API refuses them, and so are the
// cache marks of definitions, which would stand in the conversation for ever. A
// directive that says nothing has no message: nil.
func Render(d Directive) []byte {
	const head = `{"role":"system","content":[`
	out := []byte(head)
	open := func(block string) {
		if len(out) > len(head) {
			out = append(out, ',')
		}
		out = append(out, block...)
	}
	for _, text := range d.Texts {
		if text != "" {
			open(`{"type":"text","text":`)
			out = append(quote(out, text), '}')
		}
	}
	refer := func(kind string, names []string) {
		for _, name := range names {
			open(`{"type":"` + kind + `","tool":{"type":"tool_reference","name":`)
			out = append(quote(out, name), "}}"...)
		}
	}
	refer("tool_removal", d.Remove)
	refer("tool_addition", d.Add)
	for _, definition := range d.Define {
		open(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":`)
		out = append(append(out, StripMark(definition)...), "}}"...)
	}
	if len(out) == len(head) && d.Effort == "" {
		return nil
	}
	out = append(out, ']')
	if d.Effort != "" {
		out = append(quote(append(out, `,"output_config":{"effort":`...), d.Effort), '}')
	}
	return append(out, '}')
}
