package completions

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
)

// messages writes the history, which the sections of the system prompt begin.
// What the assistant has made between two messages of others is one message.
func (w *requestWriter) messages() {
	w.Name("messages")
	w.Open('[')
	for from := 0; from < len(w.c.System); {
		to := w.section(from)
		w.message("system", w.voice(&w.c.System[from].Voice), w.c.System[from:to], "system")
		from = to
	}
	entries := w.entries()
	for i := 0; i < len(entries); {
		end := i
		for end < len(entries) && isAssistants(&entries[end]) {
			end++
		}
		if end > i {
			w.assistant(entries[i:end])
			i = end
			continue
		}
		w.other(&entries[i])
		i++
		if len(w.pictures) > 0 && (i == len(entries) || entries[i].Item.Kind != rewrite.ItemResult && !entries[i].Missing) {
			w.shown()
		}
	}
	w.Close(']')
}

// section is the end of the sections that one message has: of all, unless the client
// speaks this dialect and has told them apart.
func (w *requestWriter) section(from int) int {
	to := from + 1
	for to < len(w.c.System) && w.voice(&w.c.System[from].Voice) == w.voice(&w.c.System[to].Voice) {
		to++
	}
	return to
}

// voice is who speaks in the words of a client of this dialect.
func (w *requestWriter) voice(v *rewrite.Voice) rewrite.Voice {
	if w.c.Dialect != rewrite.Completions {
		return rewrite.Voice{}
	}
	return *v
}

// entries are the items with the results right after their calls, where the
// dialect wants them; everything else stays where it is. A client of this dialect
// has it right, or wants to be told.
func (w *requestWriter) entries() []rewrite.Entry {
	entries := w.c.Entries()
	if w.c.Dialect == rewrite.Completions {
		return entries
	}
	results := make(map[string]int, len(entries)/2)
	for i, e := range entries {
		if _, twice := results[e.Item.Call.ID]; e.Item.Kind == rewrite.ItemResult && !twice {
			results[e.Item.Call.ID] = i
		}
	}
	used, out := make([]bool, len(entries)), make([]rewrite.Entry, 0, len(entries))
	for i := 0; i < len(entries); i++ {
		e := entries[i]
		if !isAssistants(&e) {
			if e.Orphan = e.Item.Kind == rewrite.ItemResult; !used[i] {
				out = append(out, e)
			}
			continue
		}
		from := i
		for i+1 < len(entries) && isAssistants(&entries[i+1]) {
			i++
		}
		out = append(out, entries[from:i+1]...)
		for _, call := range entries[from : i+1] {
			if call.Item.Kind != rewrite.ItemCall {
				continue
			}
			at, found := results[call.Item.Call.ID]
			if !found || used[at] {
				call.Missing = true
				out = append(out, call)
				continue
			}
			used[at] = true
			out = append(out, entries[at])
		}
	}
	return out
}

// isAssistants says that the assistant has made an item.
func isAssistants(e *rewrite.Entry) bool {
	item := e.Item
	if e.Missing {
		return false
	}
	switch item.Kind {
	case rewrite.ItemReasoning, rewrite.ItemCall, rewrite.ItemHosted, rewrite.ItemOpaque:
		return true
	case rewrite.ItemMessage:
		return item.Role == rewrite.RoleAssistant
	case rewrite.ItemResult, rewrite.ItemDirective:
	}
	return false
}

// other writes an item that the assistant has not made.
func (w *requestWriter) other(e *rewrite.Entry) {
	item, path := e.Item, e.Path
	switch {
	case e.Missing:
		w.losses.Add(path, "a call without a result: answered as interrupted")
		w.result(&rewrite.Item{Call: item.Call, Parts: []rewrite.Part{{Text: "The call was interrupted and has no result."}}}, path)
		return
	case e.Orphan:
		w.losses.Add(path, "a result without its call: told as a text")
		w.message("user", rewrite.Voice{}, item.Parts, path)
		return
	}
	switch item.Kind {
	case rewrite.ItemMessage:
		w.message(roleOf(item.Role), w.voice(&item.Voice), item.Parts, path)
	case rewrite.ItemResult:
		w.result(item, path)
	case rewrite.ItemDirective:
		w.directive(item)
	case rewrite.ItemReasoning, rewrite.ItemCall, rewrite.ItemHosted, rewrite.ItemOpaque:
	}
}

// roleOf is the dialect's word for who speaks, which all servers know.
func roleOf(role rewrite.Role) string { return role.String() }

// message writes what somebody but the assistant says: as a string where it is
// nothing but a text, nothing if none of it can be said.
func (w *requestWriter) message(role string, voice rewrite.Voice, parts []rewrite.Part, path string) {
	start := w.Size()
	w.Open('{')
	if voice.Role != "" {
		role = voice.Role
	}
	w.Text("role", role)
	w.Text("name", voice.Name)
	w.Name("content")
	if len(parts) == 1 && w.plain(&parts[0]) {
		w.String(parts[0].Text)
		w.Close('}')
		return
	}
	w.Open('[')
	before := w.Size()
	for i := range parts {
		w.part(&parts[i], path+".parts."+strconv.Itoa(i))
	}
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
	w.Close('}')
}

// plain says that a part is a text and nothing else.
func (w *requestWriter) plain(p *rewrite.Part) bool {
	if _, raw := w.native(&p.Payload); raw != nil {
		return false
	}
	return p.Kind == rewrite.PartText && !(p.Mark.Set && w.habits.Marks)
}

// result writes what a tool gave. Only text has a place there; what can be shown
// is shown by the user afterwards.
func (w *requestWriter) result(item *rewrite.Item, path string) {
	w.Literal(`{"role":"tool"`)
	w.Name("tool_call_id")
	w.String(w.callID(item.Call.ID))
	w.Name("content")
	var texts []*rewrite.Part
	before := len(w.pictures)
	for i := range item.Parts {
		p := &item.Parts[i]
		switch p.Kind {
		case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
			texts = append(texts, p)
		case rewrite.PartImage, rewrite.PartFile, rewrite.PartAudio, rewrite.PartVideo:
			w.pictures = append(w.pictures, p)
			w.losses.Add(path+".parts."+strconv.Itoa(i), "a tool's "+p.Kind.String()+" moved to a message of the user")
		case rewrite.PartOpaque:
			w.losses.Add(path+".parts."+strconv.Itoa(i), "known to another dialect only: "+p.Payload.Format)
		}
	}
	switch {
	case len(texts) == 0 && len(w.pictures) > before:
		w.String("See the next message.")
	case len(texts) == 0:
		w.String("")
	case len(texts) == 1 && w.plain(texts[0]):
		w.String(texts[0].Text)
	default:
		w.Open('[')
		for _, p := range texts {
			w.part(p, path)
		}
		w.Close(']')
	}
	w.Close('}')
	if item.Failed {
		w.losses.Add(path, "the dialect cannot say that a tool failed; its text stays")
	}
}

// shown writes what tools gave besides text, as a message of the user.
func (w *requestWriter) shown() {
	w.Literal(`{"role":"user","content":[{"type":"text","text":"What the tools have given besides text:"}`)
	for _, p := range w.pictures {
		w.part(p, "items")
	}
	w.pictures = nil
	w.Close(']')
	w.Close('}')
}

// part writes a piece of content of anybody but the assistant.
func (w *requestWriter) part(p *rewrite.Part, path string) {
	if _, raw := w.native(&p.Payload); raw != nil {
		w.Raw(raw)
		return
	}
	switch p.Kind {
	case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
		w.Literal(`{"type":"text"`)
		w.Name("text")
		w.String(p.Text)
	case rewrite.PartImage:
		w.Literal(`{"type":"image_url","image_url":{`)
		w.Text("url", addressOf(p, "image/png"))
		w.Text("detail", p.Media.Detail)
		w.Close('}')
	case rewrite.PartVideo:
		w.Literal(`{"type":"video_url","video_url":{`)
		w.Text("url", addressOf(p, "video/mp4"))
		w.Close('}')
	case rewrite.PartAudio:
		w.Literal(`{"type":"input_audio","input_audio":{`)
		w.Text("data", p.Media.Data)
		w.Text("format", soundOf(p.MIME))
		w.Close('}')
	case rewrite.PartFile:
		if p.Media.Data == "" && p.Media.ID == "" {
			w.losses.Add(path, "the dialect has no files by address")
			return
		}
		w.Literal(`{"type":"file","file":{`)
		w.Text("file_id", p.Media.ID)
		w.Text("filename", nameOfFile(p))
		if p.Media.Data != "" {
			w.Text("file_data", addressOf(p, "application/octet-stream"))
		}
		w.Close('}')
	case rewrite.PartOpaque:
		w.losses.Add(path, "known to another dialect only: "+p.Payload.Format)
		return
	}
	w.mark(p)
	w.Close('}')
}

// mark writes a cache breakpoint for servers that take one.
func (w *requestWriter) mark(p *rewrite.Part) {
	if !p.Mark.Set || !w.habits.Marks {
		return
	}
	if w.habits.CacheControl {
		w.Literal(`"cache_control":{"type":"ephemeral"`)
		if p.Mark.TTL == "5m" || p.Mark.TTL == "1h" {
			w.Text("ttl", p.Mark.TTL)
		}
	} else {
		w.Literal(`"prompt_cache_breakpoint":{"mode":"explicit"`)
		if p.Mark.TTL == "30m" || p.Mark.TTL == "12h" {
			w.Text("ttl", p.Mark.TTL)
		}
	}
	w.Close('}')
}

// addressOf is where the bytes of a part are, or the bytes as an address.
func addressOf(p *rewrite.Part, mime string) string {
	if p.Media.Data == "" {
		return p.Media.URL
	}
	if p.MIME != "" {
		mime = p.MIME
	}
	return "data:" + mime + ";base64," + p.Media.Data
}

// nameOfFile is the name of a file; one that comes as data has to have one.
func nameOfFile(p *rewrite.Part) string {
	if p.Media.Name != "" || p.Media.Data == "" {
		return p.Media.Name
	}
	if _, kind, ok := strings.Cut(p.MIME, "/"); ok && kind != "" && !strings.ContainsAny(kind, ".+;") {
		return "file." + kind
	}
	return "file"
}

// soundOf is the dialect's word for the format of a sound.
func soundOf(mime string) string {
	switch mime {
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	case "", "audio/wav", "audio/x-wav", "audio/wave":
		return "wav"
	}
	if len(mime) > len("audio/") && mime[:len("audio/")] == "audio/" {
		return mime[len("audio/"):]
	}
	return mime
}
