package gemini

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncodeRequest writes a conversation as the body of a request to a provider.
// The model, and whether it streams, belong into the path. The same conversation
// always gives the same bytes. What cannot be said is noted in losses; the error,
// a *rewrite.Failure, is of a conversation that would not be the same without it.
func EncodeRequest(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
	if c.Previous != "" {
		return nil, refuse("previous response", "%q is kept by another provider; send the whole conversation", c.Previous)
	}
	rw := requestWriter{c: c, provider: provider, losses: losses, own: c.Dialect == rewrite.Gemini}
	opening, turns := rw.layout()
	if len(turns) == 0 && !rw.own {
		return nil, refuse("contents", "there is nothing to answer; send a message")
	}
	w := &rw.w
	w.Grow(c.Volume())
	w.Open('{')
	rw.instruction(opening)
	rw.tools()
	rw.choice()
	rw.generation()
	rw.rest()
	w.Name("contents")
	w.Open('[')
	for i := 0; i < len(turns); {
		i += rw.content(turns[i:])
	}
	w.Close(']')
	w.Close('}')
	return w.Bytes(), nil
}

// requestWriter writes one request.
type requestWriter struct {
	w        splice.Writer
	c        *rewrite.Conversation
	provider string
	losses   *rewrite.Losses
	// own says that the conversation comes from a client of this dialect, who
	// keeps its rules himself.
	own bool
	// names are those of the tools by the identifiers of their calls, once asked for.
	names map[string]string
}

func (rw *requestWriter) lose(path, why string) { rw.losses.Add(path, why) }

// native reports whether a payload is written in place of what it stands for.
func (rw *requestWriter) native(p *rewrite.Payload) bool { return p.For(rw.provider, rewrite.Gemini) }

// layout packs the items into turns.
func (rw *requestWriter) layout() (opening []rewrite.Entry, turns []rewrite.Turn) {
	if !rw.own {
		return rw.c.LayOut()
	}
	for _, e := range rw.c.Entries() {
		role, last := e.Item.Side(), len(turns)-1
		if last < 0 || turns[last].Role != role {
			turns = append(turns, rewrite.Turn{Role: role})
			last++
		}
		turns[last].Entries = append(turns[last].Entries, e)
	}
	return nil, turns
}

// instruction writes the standing instruction.
func (rw *requestWriter) instruction(opening []rewrite.Entry) {
	w := &rw.w
	size := w.Size()
	w.Name("systemInstruction")
	w.Open('{')
	w.Name("parts")
	w.Open('[')
	empty := w.Size()
	for i := range rw.c.System {
		rw.part("system."+strconv.Itoa(i), &rw.c.System[i])
	}
	for _, e := range opening {
		for i := range e.Item.Parts {
			rw.part(e.Path+".parts."+strconv.Itoa(i), &e.Item.Parts[i])
		}
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close(']')
	w.Close('}')
}

// tools writes the catalogue: all functions in one entry, then what the provider
// runs.
func (rw *requestWriter) tools() {
	w := &rw.w
	size := w.Size()
	w.Name("tools")
	w.Open('[')
	empty := w.Size()
	w.Open('{')
	w.Name("functionDeclarations")
	w.Open('[')
	none := w.Size()
	for i := range rw.c.Tools {
		if t := &rw.c.Tools[i]; t.Kind != rewrite.ToolHosted {
			rw.function("tools."+strconv.Itoa(i), t)
		}
	}
	if w.Size() == none {
		w.Cut(empty)
	} else {
		w.Close(']')
		w.Close('}')
	}
	for i := range rw.c.Tools {
		switch t := &rw.c.Tools[i]; {
		case t.Kind != rewrite.ToolHosted:
		case rw.native(&t.Payload):
			w.Raw(t.Payload.Value)
		default:
			rw.hosted("tools."+strconv.Itoa(i), t)
		}
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close(']')
}

func (rw *requestWriter) function(path string, t *rewrite.Tool) {
	w := &rw.w
	if rw.native(&t.Payload) {
		w.Raw(t.Payload.Value)
		return
	}
	schema := t.Schema
	if t.Kind == rewrite.ToolCustom {
		schema = rewrite.JSON(rewrite.FreeTextSchema)
		if t.Grammar.Definition != "" {
			rw.lose(path+".format", "free text has no grammar here")
		}
	}
	if t.Strict == rewrite.On {
		rw.lose(path+".strict", "no such member")
	}
	w.Open('{')
	w.Text("name", functionName(t.Namespace, t.Name))
	w.Text("description", t.Description)
	w.Value("parametersJsonSchema", schema)
	w.Close('}')
}

// functionName is the name of a function in a dialect without namespaces.
func functionName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "__" + name
}

// choice writes which functions the model may call.
func (rw *requestWriter) choice() {
	c, w := rw.c, &rw.w
	if rw.native(&c.Choice.Payload) {
		w.Value("toolConfig", c.Choice.Payload.Value)
		return
	}
	if c.Parallel == rewrite.Off {
		rw.lose("parallel", "the model decides how many calls it makes")
	}
	if !rw.demandable() {
		rw.losses.Miss("tool_choice", "a call of a tool that the provider runs cannot be demanded here")
		return
	}
	mode, mixed := strings.ToUpper(c.Choice.Mode), rw.mixed()
	allowed := rw.callable(c.Choice.Allowed)
	switch {
	case mode == "TOOL":
		mode, allowed = "ANY", rw.callable([]string{c.Choice.Name})
	case c.Choice.Allowed != nil && len(allowed) == 0 && mode != "ANY":
		mode = "NONE" // what is allowed is the provider's to run
	case (len(allowed) > 0 || mixed) && mode != "ANY" && mode != "NONE":
		mode = "VALIDATED"
	}
	if mode == "" || len(c.Tools) == 0 {
		return
	}
	w.Name("toolConfig")
	w.Open('{')
	w.Name("functionCallingConfig")
	w.Open('{')
	w.Text("mode", mode)
	if len(allowed) > 0 && mode != "NONE" {
		w.Name("allowedFunctionNames")
		writeStrings(w, allowed)
	}
	w.Close('}')
	if mixed {
		w.Literal(`"includeServerSideToolInvocations":true`)
	}
	w.Close('}')
}

func writeStrings(w *splice.Writer, texts []string) {
	w.Open('[')
	for _, text := range texts {
		w.String(text)
	}
	w.Close(']')
}

// rest writes the members that have a field in neither.
func (rw *requestWriter) rest() {
	c, w := rw.c, &rw.w
	if rw.own {
		w.Text("serviceTier", c.ServiceTier)
	} else {
		for _, lost := range []struct {
			name string
			said bool
		}{
			{"service_tier", c.ServiceTier != "" && c.ServiceTier != "auto"}, {"user", c.User != ""}, {"metadata", len(c.Metadata) > 0},
			{"store", c.Store == rewrite.On}, {"format.verbosity", c.Format.Verbosity != ""},
		} {
			if lost.said {
				rw.lose(lost.name, "no such member")
			}
		}
	}
	for _, m := range c.Extra {
		switch {
		case !rw.own:
			if !m.Said {
				rw.lose(m.Name, "no such member")
			}
		case !strings.HasPrefix(m.Name, generationConfig+"."):
			w.Value(m.Name, m.Value)
		}
	}
}
