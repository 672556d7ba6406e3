package gemini

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// skipSignature is the vendor's word for a call that another model has made and
// that therefore has no signature.
const skipSignature = "skip_thought_signature_validator"

// content writes a turn as a content, with the instructions that follow it: they
// have no role here. It gives how many turns it took.
func (rw *requestWriter) content(turns []rewrite.Turn) (taken int) {
	w := &rw.w
	role := "user"
	if turns[0].Role == rewrite.RoleAssistant {
		role = "model"
	}
	size := w.Size()
	w.Open('{')
	w.Text("role", role)
	w.Name("parts")
	w.Open('[')
	empty := w.Size()
	signed := false
	for taken < len(turns) && (taken == 0 || turns[taken].Role == rewrite.RoleSystem && role == "user") {
		for _, e := range turns[taken].Entries {
			rw.item(e, &signed)
		}
		taken++
	}
	if w.Size() == empty {
		w.Cut(size)
		return taken
	}
	w.Close(']')
	w.Close('}')
	return taken
}

// item writes the parts of an item. Signed is set once a call of the content has
// been written.
func (rw *requestWriter) item(e rewrite.Entry, signed *bool) {
	item := e.Item
	switch {
	case e.Missing:
		rw.lose(e.Path, "a call without a result: answered as interrupted")
		rw.response(e, "error", "The call was interrupted and has no result.", nil)
		return
	case e.Orphan:
		rw.lose(e.Path, "a result without its call: told as a text")
		rw.parts(e)
		return
	case item.Side() == rewrite.RoleSystem:
		rw.told(e)
		return
	case beside(&item.Payload):
		return // it came with a reply, and has no place in a request
	case rw.native(&item.Payload):
		rw.w.Raw(item.Payload.Value)
		*signed = *signed || item.Kind == rewrite.ItemCall
		return
	}
	switch item.Kind {
	case rewrite.ItemMessage:
		rw.parts(e)
	case rewrite.ItemReasoning:
		if !item.Plain() {
			rw.lose(e.Path, "reasoning that this provider cannot read")
		}
		if !rw.own || !item.Payload.Empty() {
			return // reasoning that is nothing but text is for people
		}
		for i := range item.Parts {
			rw.w.Open('{')
			rw.w.Text("text", item.Parts[i].Text)
			rw.w.Literal(`"thought":true`)
			rw.w.Close('}')
		}
	case rewrite.ItemCall:
		rw.call(e, !*signed && (!rw.own || !item.Payload.Empty()))
		*signed = true
	case rewrite.ItemResult:
		rw.result(e)
	case rewrite.ItemHosted:
		rw.lose(e.Path, item.Hosted.Name+" that another provider ran")
	case rewrite.ItemOpaque:
		if len(item.Parts) == 0 {
			rw.lose(e.Path, "known to another provider only")
		}
		rw.parts(e)
	case rewrite.ItemDirective:
	}
}

func (rw *requestWriter) parts(e rewrite.Entry) {
	for i := range e.Item.Parts {
		rw.part(e.Path+".parts."+strconv.Itoa(i), &e.Item.Parts[i])
	}
}

// told writes an instruction of mid-conversation as a text of the user's, marked
// as what it is.
func (rw *requestWriter) told(e rewrite.Entry) {
	if e.Item.Kind == rewrite.ItemDirective {
		rw.lose(e.Path, "tools cannot change here")
		return
	}
	var texts []string
	for i := range e.Item.Parts {
		if text := e.Item.Parts[i].Text; text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return
	}
	rw.lose(e.Path, "an instruction in mid-conversation: told as the user's")
	rw.text(rewrite.Reminder(strings.Join(texts, "\n")))
}

func (rw *requestWriter) text(text string) {
	rw.w.Open('{')
	rw.w.Name("text")
	rw.w.String(text)
	rw.w.Close('}')
}

// part writes a piece of content.
func (rw *requestWriter) part(path string, part *rewrite.Part) {
	if rw.native(&part.Payload) {
		rw.w.Raw(part.Payload.Value)
		return
	}
	switch part.Kind {
	case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
		if part.Text != "" || rw.own {
			rw.text(part.Text)
		}
	case rewrite.PartImage, rewrite.PartAudio, rewrite.PartVideo, rewrite.PartFile:
		rw.media(path, part)
	case rewrite.PartOpaque:
		rw.lose(path, "known to another provider only")
	}
}

// media writes what has bytes or an address.
func (rw *requestWriter) media(path string, part *rewrite.Part) {
	m, w := &part.Media, &rw.w
	switch {
	case m.Data != "" && part.MIME == "":
		rw.lose(path, "its media type is not known")
		return
	case m.Data == "" && m.URL == "":
		rw.lose(path, "a file that another provider keeps")
		return
	}
	w.Open('{')
	if m.Data != "" {
		w.Name("inlineData")
	} else {
		w.Name("fileData")
	}
	w.Open('{')
	w.Text("mimeType", part.MIME)
	if m.Data != "" {
		w.Text("data", m.Data)
	} else {
		w.Text("fileUri", m.URL)
	}
	w.Text("displayName", m.Name)
	w.Close('}')
	w.Close('}')
}

// call writes a call. The first of a content has to be signed.
func (rw *requestWriter) call(e rewrite.Entry, sign bool) {
	call, w := &e.Item.Call, &rw.w
	w.Open('{')
	w.Name("functionCall")
	w.Open('{')
	w.Text("id", callID(call.ID))
	w.Text("name", functionName(call.Namespace, call.Name))
	w.Name("args")
	switch arguments := call.Arguments; {
	case call.Custom:
		w.Raw(rewrite.WrapFreeText(arguments))
	case len(arguments) == 0:
		w.Literal("{}")
	case arguments[0] == '{' && splice.Valid(arguments) == nil:
		w.Raw(arguments)
	default:
		rw.lose(e.Path+".arguments", "not a JSON object: sent as a text")
		w.Open('{')
		w.Name("INVALID_JSON")
		w.Bytestring(arguments)
		w.Close('}')
	}
	w.Close('}')
	if sign {
		w.Text("thoughtSignature", skipSignature)
	}
	w.Close('}')
}

// callID is the identifier of a call; none if the provider has given none.
func callID(id string) string {
	if strings.HasPrefix(id, made) {
		return ""
	}
	return id
}

// result writes what a function gave.
func (rw *requestWriter) result(e rewrite.Entry) {
	var texts []string
	var media []int
	for i := range e.Item.Parts {
		switch part := &e.Item.Parts[i]; part.Kind {
		case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
			texts = append(texts, part.Text)
		default:
			media = append(media, i)
		}
	}
	name := "output"
	if e.Item.Failed {
		name = "error"
	}
	rw.response(e, name, strings.Join(texts, "\n"), media)
}

// response writes a text as the object that a function's result has to be.
// Objects of the function's own are texts too: some of their members mean
// something to this provider.
func (rw *requestWriter) response(e rewrite.Entry, name, text string, media []int) {
	call, w := &e.Item.Call, &rw.w
	w.Open('{')
	w.Name("functionResponse")
	w.Open('{')
	w.Text("id", callID(call.ID))
	w.Text("name", functionName(call.Namespace, rw.nameOf(call)))
	w.Name("response")
	w.Open('{')
	w.Name(name)
	w.String(text)
	w.Close('}')
	if len(media) > 0 {
		size := w.Size()
		w.Name("parts")
		w.Open('[')
		empty := w.Size()
		for _, i := range media {
			rw.part(e.Path+".parts."+strconv.Itoa(i), &e.Item.Parts[i])
		}
		if w.Size() == empty {
			w.Cut(size)
		} else {
			w.Close(']')
		}
	}
	w.Close('}')
	w.Close('}')
}

// nameOf is the name of the function that a result is of.
func (rw *requestWriter) nameOf(call *rewrite.Call) string {
	if call.Name != "" {
		return call.Name
	}
	if rw.names == nil {
		rw.names = map[string]string{}
		for i := range rw.c.Items {
			of := &rw.c.Items[i]
			if _, twice := rw.names[of.Call.ID]; of.Kind == rewrite.ItemCall && !twice {
				rw.names[of.Call.ID] = of.Call.Name
			}
		}
	}
	if name, ok := rw.names[call.ID]; ok {
		return name
	}
	return "unknown"
}
