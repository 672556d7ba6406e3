package view

import (
	"fmt"
	"strconv"
	"time"

	"warmpath/rewrite/splice"
	"warmpath/rewrite/transcript"
)

// Shown is an event of a projection: its number, its type and its JSON.
type Shown struct {
	Seq  int64
	Type string
	JSON []byte
}

// Raw shows all events, byte for byte.
func Raw(events [][]byte) []Shown {
	all := make([]Shown, len(events))
	for i, event := range events {
		f := read(event)
		all[i] = Shown{f.seq, f.kind, event}
	}
	return all
}

// Portable projects events to what means the same whoever the provider is: text with
// its sources, and the activities of tools that a provider runs. The error says that
// an event is not one.
func Portable(events [][]byte) ([]Shown, error) {
	var all []Shown
	for _, event := range events {
		f := read(event)
		switch f.kind {
		case transcript.TurnStart, transcript.ChatRequest, transcript.HostedActivity:
		case transcript.ChatResponse:
			if f.of == transcript.Reasoning {
				continue
			}
		default:
			continue
		}
		e, err := transcript.Parse(event)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", f.seq, err)
		}
		e.Payload, e.Path = nil, ""
		var content []transcript.Block
		for _, b := range e.Content {
			if b.Type == "text" || b.Type == "refusal" {
				content = append(content, transcript.Block{Type: b.Type, Text: b.Text, MIME: b.MIME, Citations: bare(b.Citations), Omitted: b.Omitted})
			}
		}
		if e.Content, e.Sources = content, bare(e.Sources); len(content) == 0 && (f.kind == transcript.ChatRequest || f.kind == transcript.ChatResponse) {
			continue
		}
		all = append(all, Shown{f.seq, f.kind, transcript.Append(nil, e)})
	}
	return all, nil
}

// bare are sources without what only their provider can read.
func bare(sources []transcript.Citation) []transcript.Citation {
	for i := range sources {
		sources[i].Payload = nil
	}
	return sources
}

// Native projects events to what providers made, in their own words, byte for byte:
// an entry for each payload, with where in the event it stood. The error says that an
// event is not one.
func Native(events [][]byte) ([]Shown, error) {
	var all []Shown
	for _, event := range events {
		f := read(event)
		e, err := transcript.Parse(event)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", f.seq, err)
		}
		entry := func(at string, p *transcript.Payload) {
			if p != nil {
				all = append(all, Shown{f.seq, f.kind, native(e, at, p)})
			}
		}
		entry("payload", e.Payload)
		for i := range e.Sources {
			entry("sources."+strconv.Itoa(i), e.Sources[i].Payload)
		}
		for i := range e.Content {
			at := "content." + strconv.Itoa(i)
			entry(at, e.Content[i].Payload)
			for j := range e.Content[i].Citations {
				entry(at+".citations."+strconv.Itoa(j), e.Content[i].Citations[j].Payload)
			}
		}
	}
	return all, nil
}

func native(e *transcript.Event, at string, p *transcript.Payload) []byte {
	var w splice.Writer
	w.Open('{')
	w.Name("seq")
	w.Int(e.Seq)
	w.Name("turn")
	w.Int(e.Turn)
	if e.Call > 0 {
		w.Name("call")
		w.Int(int64(e.Call))
	}
	w.Text("time", e.Time.UTC().Format(time.RFC3339Nano))
	w.Text("type", e.Type)
	w.Text("id", e.ID)
	w.Text("at", at)
	w.Text("provider", p.Provider)
	w.Text("format", p.Format)
	w.Text("version", p.Version)
	w.Value("value", p.Value)
	w.Close('}')
	return w.Bytes()
}
