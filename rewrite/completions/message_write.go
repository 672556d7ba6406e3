package completions

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// replyWriter writes the message of a whole reply.
type replyWriter struct {
	splice.Writer
	o *EncoderOptions
}

// spoken is what the items of a reply say as one message.
type spoken struct {
	content, refusal, thoughts strings.Builder
	said                       int
	messages                   int
	sources, details, images   splice.Writer
	entries                    int
}

// message writes the members of the message, and says whether the model has
// declined in words.
func (m *replyWriter) message(items []rewrite.Item) (refused bool) {
	var s spoken
	for i := range items {
		s.add(&items[i], m.o)
	}
	m.Name("content")
	if s.content.Len() == 0 && hasCalls(items) {
		m.Literal("null")
	} else {
		m.String(s.content.String())
	}
	m.Name("refusal")
	if s.refusal.Len() == 0 {
		m.Literal("null")
	} else {
		m.String(s.refusal.String())
	}
	m.Text("reasoning_content", s.thoughts.String())
	for _, list := range [...]struct {
		name string
		w    *splice.Writer
	}{{"reasoning_details", &s.details}, {"annotations", &s.sources}, {"images", &s.images}} {
		if list.w.Size() > 0 {
			m.Name(list.name)
			m.Open('[')
			m.Raw(list.w.Bytes())
			m.Close(']')
		}
	}
	m.calls(items)
	return s.refusal.Len() > 0
}

func hasCalls(items []rewrite.Item) bool {
	for i := range items {
		if items[i].Kind == rewrite.ItemCall {
			return true
		}
	}
	return false
}

// add takes what an item says.
func (s *spoken) add(item *rewrite.Item, o *EncoderOptions) {
	switch item.Kind {
	case rewrite.ItemMessage:
		if s.messages++; s.messages > 1 && s.said > 0 {
			s.content.WriteString("\n\n")
			s.said += 2
		}
		for i := range item.Parts {
			s.part(&item.Parts[i], o.Losses)
		}
	case rewrite.ItemReasoning:
		for i := range item.Parts {
			s.thoughts.WriteString(item.Parts[i].Text)
		}
		if !o.owns(&item.Payload, "reasoning") {
			s.detail("", item.Payload.Envelope())
		} else if details := gjson.GetBytes(item.Payload.Value, "reasoning_details"); details.IsArray() {
			for _, entry := range details.Array() {
				s.details.Literal(entry.Raw)
			}
		}
	case rewrite.ItemCall:
		if !o.owns(&item.Payload, "tool_call") {
			s.detail(item.Call.ID, item.Payload.Envelope())
		}
	case rewrite.ItemHosted:
		if !item.Payload.Empty() {
			s.detail("", activity(item))
		}
	case rewrite.ItemOpaque:
		s.detail("", item.Payload.Envelope())
	case rewrite.ItemResult, rewrite.ItemDirective:
	}
}

// detail takes what has to come back.
func (s *spoken) detail(id, data string) {
	if data != "" {
		writeDetail(&s.details, id, data, s.entries)
		s.entries++
	}
}

// part takes a part of a message.
func (s *spoken) part(p *rewrite.Part, losses *rewrite.Losses) {
	switch p.Kind {
	case rewrite.PartText, rewrite.PartSummary:
		s.content.WriteString(p.Text)
		length := utf8.RuneCountInString(p.Text)
		for i := range p.Attributions {
			a := p.Attributions[i]
			if a.End <= a.Start || a.End > length {
				a.Start, a.End = 0, length
			}
			if a.URL == "" {
				losses.Add("choices", "a source without an address")
				continue
			}
			writeSource(&s.sources, &a, s.said)
		}
		s.said += length
	case rewrite.PartRefusal:
		s.refusal.WriteString(p.Text)
	case rewrite.PartImage:
		if p.Media.Data != "" || p.Media.URL != "" {
			s.images.Literal(`{"type":"image_url","image_url":{`)
			s.images.Text("url", addressOf(p, "image/png"))
			s.images.Close('}')
			s.images.Close('}')
		}
	case rewrite.PartAudio, rewrite.PartVideo, rewrite.PartFile, rewrite.PartOpaque:
		losses.Add("choices", "the dialect has no place for "+p.Kind.String()+" that the model made")
	}
}

// calls writes the calls of the reply.
func (m *replyWriter) calls(items []rewrite.Item) {
	if !hasCalls(items) {
		return
	}
	m.Name("tool_calls")
	m.Open('[')
	for i := range items {
		if items[i].Kind != rewrite.ItemCall {
			continue
		}
		if p := &items[i].Payload; m.o.owns(p, "tool_call") && !p.Empty() {
			m.Raw(p.Value)
			continue
		}
		call := items[i].Call
		arguments := []byte(call.Arguments)
		if callOfCustom(m.o.Request, &call) {
			if text, ok := rewrite.UnwrapFreeText(arguments); ok {
				arguments = []byte(text)
			}
		} else if len(arguments) == 0 && !call.Custom {
			arguments = []byte("{}")
		}
		kind, input := "function", "arguments"
		if call.Custom {
			kind, input = "custom", "input"
		}
		m.Open('{')
		m.Name("id")
		m.String(call.ID)
		m.Text("type", kind)
		m.Name(kind)
		m.Open('{')
		m.Text("name", call.Name)
		m.Name(input)
		m.Bytestring(arguments)
		m.Close('}')
		m.Close('}')
	}
	m.Close(']')
}
