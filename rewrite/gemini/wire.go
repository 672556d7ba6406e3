package gemini

import (
	"encoding/base64"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// wire is the contract that payloads of this dialect are written by.
const wire = "v1beta"

// payload is an element as a provider made it; an empty provider is the client.
func payload(provider, kind string, raw []byte) rewrite.Payload {
	return rewrite.Payload{Provider: provider, Format: "gemini/" + kind, Version: wire, Value: raw}
}

// camel is the name of a member in the spelling that replies have: requests may
// have either.
func camel(name []byte) string {
	head, tail, more := strings.Cut(string(name), "_")
	for more && head != "" {
		var word string
		word, tail, more = strings.Cut(tail, "_")
		if word != "" {
			head += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return head
}

// frequent are the names that most members have, so that they need no memory.
var frequent = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"role", "parts", "text", "thought", "thoughtSignature", "functionCall", "functionResponse", "id", "name", "args",
		"response", "output", "result", "error", "description", "parametersJsonSchema", "inlineData", "mimeType", "data",
	} {
		names[name] = name
	}
	return names
}()

// within calls yield for the members of the object that a walker stands at that
// say something; ok is false if it is none.
func within(w *splice.Walker, yield func(name string)) (ok bool) {
	return w.Fields(func(name []byte) {
		switch usual, ok := frequent[string(name)]; {
		case w.Next() == 'n':
		case ok:
			yield(usual)
		default:
			yield(camel(name))
		}
	})
}

// members is within for an object found before.
func members(object []byte, yield func(name string, value []byte)) (ok bool) {
	w := splice.Walk(object)
	return within(&w, func(name string) { yield(name, w.Value()) })
}

// made begins the identifiers that we give to calls that have none.
const made = "call_wp_"

// plainReasoning is the format of the payload that signs what there is nothing
// of but the text.
const plainReasoning = "reasoning/plain"

// between stands between the payloads of one signature.
const between = "+"

// callName is the format of the payload that holds the identifier of a call: its
// provider pairs results by it, and some clients drop it.
const callName = "call/id"

// sign packs a payload into a signature, which clients of this dialect decode as
// base64. What stood before the part that it signs, packed already, goes with it:
// clients drop parts that have nothing but a signature, and some of them the whole
// reply.
func sign(before []string, own string) string {
	packed := own
	if len(before) > 0 {
		packed = strings.Join(before, between) + between + own
	}
	return base64.StdEncoding.EncodeToString([]byte(packed))
}

// carried is what a signature holds.
type carried struct {
	// before are payloads of items before the part, own is the part's, if it has
	// one.
	before []rewrite.Payload
	own    rewrite.Payload
}

// opened unpacks a signature; ok is false for the provider's own.
func opened(signature []byte) (c carried, ok bool) {
	text, ok := splice.String(signature)
	if !ok {
		return c, false
	}
	plain, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return c, false
	}
	packed := strings.Split(string(plain), between)
	for i, one := range packed {
		if last := i == len(packed)-1; last && i > 0 && one == "" {
			break
		}
		p, ok := rewrite.OpenEnvelope(one)
		if !ok || splice.Valid(p.Value) != nil {
			return carried{}, false
		}
		if i < len(packed)-1 {
			c.before = append(c.before, p)
		} else {
			c.own = p
		}
	}
	return c, true
}

// isReasoning reports whether a payload is a thought, in the formats of all
// dialects.
func isReasoning(p *rewrite.Payload) bool {
	return strings.Contains(p.Format, "reasoning") || strings.Contains(p.Format, "thinking") || p.Format == "gemini/thought"
}

// part is a part of a content with its members as they are written.
type part struct {
	at  rewrite.Path // in a client's request
	raw []byte
	// kind is the member that has its data.
	kind      string
	data      []byte
	fields    fields // of the data
	signature []byte
	thought   bool
	// more says that there are members that the hub has no place for.
	more bool
}

func splitPart(raw []byte) (p part, ok bool) {
	w := splice.Walk(raw)
	ok = p.read(&w)
	return p, ok
}

// read reads the part that a walker stands at; ok is false for what is none.
func (p *part) read(w *splice.Walker) (ok bool) {
	start := w.Offset()
	ok = within(w, func(name string) {
		switch from := w.Offset(); name {
		case "thought":
			p.thought = string(w.Value()) == "true"
		case "thoughtSignature":
			if value := w.Value(); !splice.Empty(value) {
				p.signature = value
			}
		case "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse":
			p.fields = fields{}
			if w.Next() == '{' {
				p.fields.read(w)
			} else {
				w.Value()
			}
			p.kind, p.data = name, w.Since(from)
		default:
			p.more = true
		}
	})
	p.raw = w.Since(start)
	return ok
}

// fields are the members of a part's data that have a place in the hub.
type fields struct {
	id, name, args, response, parts, mimeType, data, uri, displayName, outcome, output, toolType []byte
	// more says that there are others, or parts, which the hub has elsewhere.
	more bool
}

func (f *fields) read(w *splice.Walker) {
	within(w, func(name string) {
		field := f.field(name)
		if field != nil {
			*field = w.Value()
		}
		f.more = f.more || field == nil || field == &f.parts
	})
}

func (f *fields) field(name string) *[]byte {
	switch name {
	case "id":
		return &f.id
	case "name":
		return &f.name
	case "args":
		return &f.args
	case "response":
		return &f.response
	case "parts":
		return &f.parts
	case "mimeType":
		return &f.mimeType
	case "data":
		return &f.data
	case "fileUri":
		return &f.uri
	case "displayName":
		return &f.displayName
	case "outcome":
		return &f.outcome
	case "output":
		return &f.output
	case "toolType":
		return &f.toolType
	}
	return nil
}

// capability is the hub's name of what a hosted tool does.
func capability(tool string) string {
	switch tool {
	case "googleSearch", "googleSearchRetrieval", "enterpriseWebSearch", "parallelAiSearch", "exaAiSearch", "GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE":
		return "web_search"
	case "urlContext", "URL_CONTEXT":
		return "web_fetch"
	case "codeExecution":
		return "code_execution"
	case "fileSearch", "retrieval", "FILE_SEARCH":
		return "file_search"
	case "googleMaps", "GOOGLE_MAPS":
		return "maps"
	case "computerUse":
		return "computer"
	case "mcpServers":
		return "mcp"
	}
	return "other"
}

// readHosted reads a step of a tool that the provider runs; ok is false for
// other parts.
func readHosted(p *part) (h rewrite.Hosted, ok bool) {
	f := &p.fields
	h.ID = splice.Text(f.id)
	switch p.kind {
	case "executableCode":
		h.Name, h.Input = "code_execution", p.data
	case "codeExecutionResult":
		h.Name, h.State = "code_execution", rewrite.HostedCompleted
		if outcome := splice.Text(f.outcome); outcome != "OUTCOME_OK" && outcome != "" {
			h.State, h.Error = rewrite.HostedFailed, outcome
		}
	case "toolCall":
		h.Name, h.Input = capability(splice.Text(f.toolType)), f.args
	case "toolResponse":
		h.Name, h.State = capability(splice.Text(f.toolType)), rewrite.HostedCompleted
	default:
		return h, false
	}
	return h, true
}

// mediaPart is a picture, a sound, a film or a file.
func mediaPart(p *part) (out rewrite.Part, known bool) {
	f := &p.fields
	out.MIME = splice.Text(f.mimeType)
	out.Media = rewrite.Media{Data: splice.Text(f.data), URL: splice.Text(f.uri), Name: splice.Text(f.displayName)}
	switch kind, _, _ := strings.Cut(out.MIME, "/"); kind {
	case "image":
		out.Kind = rewrite.PartImage
	case "audio":
		out.Kind = rewrite.PartAudio
	case "video":
		out.Kind = rewrite.PartVideo
	default:
		out.Kind = rewrite.PartFile
	}
	return out, !f.more && !p.more && p.signature == nil
}
