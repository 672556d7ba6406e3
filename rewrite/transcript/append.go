package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode/utf8"

	"warmpath/rewrite/splice"
)

// What is kept of one text, of one value in JSON or base64, and of one event.
const (
	mostText  = 512 << 10
	mostValue = 1 << 20
	mostEvent = 4 << 20
)

// Append appends an event as JSON. Values in JSON stand as they are; one that is no
// JSON becomes a string. What is too long to be kept is left out, and said to be.
func Append(dst []byte, e *Event) []byte {
	w := splice.WriteTo(dst)
	a := appender{Writer: w}
	a.event(e)
	if a.Size() <= mostEvent {
		return a.Bytes()
	}
	omitted := a.Size()
	a.Cut(0)
	a.event(&Event{
		Seq: e.Seq, Turn: e.Turn, Call: e.Call, Time: e.Time, Type: e.Type, Source: e.Source, Kind: e.Kind, Role: e.Role,
		ID: short(e.ID), CallID: short(e.CallID), Name: short(e.Name), State: e.State, Omitted: omitted,
	})
	return a.Bytes()
}

// short is the beginning of a name.
func short(name string) string { return name[:min(len(name), 256)] }

type appender struct{ splice.Writer }

func (a *appender) event(e *Event) {
	a.Open('{')
	a.Name("seq")
	a.Int(e.Seq)
	a.Name("turn")
	a.Int(e.Turn)
	a.number("call", int64(e.Call))
	a.Text("time", e.Time.UTC().Format(time.RFC3339Nano))
	a.Text("type", e.Type)
	a.Text("source", e.Source)
	a.Text("id", e.ID)
	a.Text("kind", e.Kind)
	a.Text("role", e.Role)
	a.Text("phase", e.Phase)
	a.Text("path", e.Path)
	a.Text("call_id", e.CallID)
	a.Text("name", e.Name)
	a.Text("namespace", e.Namespace)
	a.flag("custom", e.Custom)
	a.value("arguments", e.Arguments)
	a.Text("runner", e.Runner)
	a.flag("failed", e.Failed)
	a.blocks(e)
	a.flag("incomplete", e.Incomplete)
	a.Text("state", e.State)
	a.value("input", e.Input)
	a.Text("summary", e.Summary)
	a.Text("error_code", e.ErrorCode)
	a.citations("sources", e.Sources)
	a.names("texts", e.Texts)
	a.names("added", e.Added)
	a.names("removed", e.Removed)
	a.number("defined", int64(e.Defined))
	if e.After != nil {
		a.Name("after")
		a.Int(int64(*e.After))
	}
	a.value("data", e.Data)
	a.ending(e)
	a.payload(e.Payload)
	a.number("omitted_bytes", int64(e.Omitted))
	a.Close('}')
}

// ending writes what the events have that open and close turns.
func (a *appender) ending(e *Event) {
	a.Text("dialect", e.Dialect)
	a.Text("provider", e.Provider)
	a.Text("model", e.Model)
	a.flag("stream", e.Stream)
	a.number("items", int64(e.Items))
	a.number("new", int64(e.New))
	a.names("tools", e.Tools)
	if t := e.Tokens; t != nil {
		a.Name("tokens")
		a.Open('{')
		for _, c := range [...]struct {
			name string
			n    *int64
		}{
			{"input", t.Input}, {"fresh", t.Fresh}, {"cache_read", t.CacheRead}, {"cache_write", t.CacheWrite},
			{"output", t.Output}, {"reasoning", t.Reasoning},
		} {
			if c.n != nil {
				a.Name(c.name)
				a.Int(*c.n)
			}
		}
		a.Close('}')
	}
	a.Text("stop", e.Stop)
	a.Text("outcome", e.Outcome)
	a.number("status", int64(e.Status))
	a.Text("reason", e.Reason)
	a.Text("message", e.Message)
	a.number("duration_ms", e.Milliseconds)
}

// blocks writes the content; an empty one too of a tool, which has given nothing.
func (a *appender) blocks(e *Event) {
	if len(e.Content) == 0 && e.Type != ToolCallResponse {
		return
	}
	a.Name("content")
	a.Open('[')
	for i := range e.Content {
		b := &e.Content[i]
		a.Open('{')
		a.Text("type", b.Type)
		text, omitted := b.Text, b.Omitted
		if len(text) > mostText {
			text = whole(text[:mostText])
			omitted = len(b.Text) - len(text)
		}
		if b.Type == "text" {
			a.Name("text")
			a.String(text)
		} else {
			a.Text("text", text)
		}
		a.Text("mimeType", b.MIME)
		if len(b.Data) > mostValue {
			omitted = len(b.Data)
			sum := sha256.Sum256([]byte(b.Data))
			a.Text("sha256", hex.EncodeToString(sum[:]))
		} else {
			a.Text("data", b.Data)
		}
		if len(b.URL) > mostValue {
			omitted = len(b.URL)
		} else {
			a.Text("url", b.URL)
		}
		a.Text("file_id", b.FileID)
		a.Text("name", b.Name)
		a.value("annotations", b.Annotations)
		a.citations("citations", b.Citations)
		a.payload(b.Payload)
		a.number("omitted_bytes", int64(omitted))
		a.Close('}')
	}
	a.Close(']')
}

// whole is a text without the part of a character at its end.
func whole(text string) string {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

func (a *appender) citations(name string, all []Citation) {
	if len(all) == 0 {
		return
	}
	a.Name(name)
	a.Open('[')
	for i := range all {
		c := &all[i]
		a.Open('{')
		a.Text("url", c.URL)
		a.Text("title", c.Title)
		a.number("start", int64(c.Start))
		a.number("end", int64(c.End))
		a.Text("excerpt", c.Excerpt)
		a.Text("kind", c.Kind)
		a.flag("incomplete", c.Incomplete)
		a.payload(c.Payload)
		a.Close('}')
	}
	a.Close(']')
}

func (a *appender) payload(p *Payload) {
	if p == nil {
		return
	}
	a.Name("payload")
	a.Open('{')
	a.Text("provider", p.Provider)
	a.Text("format", p.Format)
	a.Text("version", p.Version)
	a.value("value", p.Value)
	a.Close('}')
}

// value writes a member as it is; as a string if it is no JSON.
func (a *appender) value(name string, value []byte) {
	switch {
	case len(value) == 0:
	case len(value) > mostValue:
		a.Name(name + "_omitted_bytes")
		a.Int(int64(len(value)))
	case splice.ValidDeep(value) != nil:
		a.Name(name)
		a.Bytestring(value)
	default:
		a.Value(name, value)
	}
}

func (a *appender) number(name string, n int64) {
	if n != 0 {
		a.Name(name)
		a.Int(n)
	}
}

func (a *appender) flag(name string, set bool) {
	if set {
		a.Name(name)
		a.Bool(true)
	}
}

func (a *appender) names(name string, all []string) {
	if len(all) == 0 {
		return
	}
	a.Name(name)
	a.Open('[')
	for _, text := range all {
		a.String(text[:min(len(text), mostText)])
	}
	a.Close(']')
}
