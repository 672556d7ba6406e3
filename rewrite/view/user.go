package view

import (
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/transcript"
)

// UserEvents are what the people who use a client are to see of a conversation. It is
// a type of its own, with nothing in it that could be sent to a provider.
type UserEvents struct{ shown []shown }

// shown is one event, as text.
type shown struct {
	seq  int64
	kind string
	text string
}

// Len is the number of events.
func (u UserEvents) Len() int { return len(u.shown) }

// Event is the i-th event: its number, its type, and its JSON.
func (u UserEvents) Event(i int) (seq int64, kind, text string) {
	s := &u.shown[i]
	return s.seq, s.kind, s.text
}

// User projects the events of a log, each the JSON of one. What was asked and
// answered stays as it is; of what tools gave, the blocks stay that are for people,
// in their order; everything else is left out. A block that names no audience is for
// everybody, unless explicit asks for those only that name people.
func User(events [][]byte, explicit bool) UserEvents {
	var u UserEvents
	for _, event := range events {
		f := read(event)
		switch f.kind {
		case transcript.TurnStart, transcript.ChatRequest:
		case transcript.ChatResponse:
			if f.of != transcript.Message && f.of != transcript.Structured {
				continue
			}
		case transcript.ToolCallResponse:
			if event = reduced(event, explicit); event == nil {
				continue
			}
		default:
			continue
		}
		u.shown = append(u.shown, shown{f.seq, f.kind, string(event)})
	}
	return u
}

// fields are what decides about an event.
type fields struct {
	seq      int64
	kind, of string
}

func read(event []byte) (f fields) {
	splice.Fields(event, func(key, value []byte) bool {
		switch string(key) {
		case "seq":
			f.seq, _ = splice.Int(value)
		case "type":
			f.kind = splice.Text(value)
		case "kind":
			f.of = splice.Text(value)
		}
		return true
	})
	return f
}

// reduced is an event with the blocks that are for people; nil if there are none. The
// event in the provider's or client's own words goes: it has all blocks.
func reduced(event []byte, explicit bool) []byte {
	w := splice.WriteTo(make([]byte, 0, len(event)))
	kept := 0
	w.Open('{')
	splice.Fields(event, func(key, value []byte) bool {
		switch string(key) {
		case "payload":
			return true
		case "content":
			w.Name("content")
			w.Open('[')
			splice.Elements(value, func(block []byte) bool {
				if forPeople(block, explicit) {
					w.Raw(block)
					kept++
				}
				return true
			})
			w.Close(']')
			return true
		}
		w.Name(string(key))
		w.Raw(value)
		return true
	})
	w.Close('}')
	if kept == 0 {
		return nil
	}
	return w.Bytes()
}

// forPeople reports whether a block is for people.
func forPeople(block []byte, explicit bool) bool {
	var annotations []byte
	splice.Fields(block, func(key, value []byte) bool {
		if string(key) == "annotations" {
			annotations = value
		}
		return true
	})
	_, user := audience.For(rewrite.JSON(annotations))
	return user && (!explicit || named(annotations))
}

// named reports whether annotations name an audience at all.
func named(annotations []byte) (found bool) {
	splice.Fields(annotations, func(key, value []byte) bool {
		if string(key) == "audience" {
			found = found || !splice.Null(value) && !splice.Empty(value)
		}
		return true
	})
	return found
}
