package completions

import (
	"bytes"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Decoder turns the chunks of a stream into the events that all dialects share.
// It is for one reply, and for the first of its candidates. Of the text it keeps
// only what may have to go back as a whole: reasoning, and arguments.
type Decoder struct {
	reader
	report rewrite.Report
	event  rewrite.Event
	text   []byte
	// begun, finished and ended say how far the reply has come: it is finished by
	// its reason to stop, and ended when the usage after that is there.
	begun, finished, ended bool
	word                   string
	items                  int
	// thought and said are the open items of reasoning and text.
	thought thinking
	said    saying
	open    []calling
	// tools are those that the server runs, and sources what it names beside the
	// text, in lists of so many bytes.
	tools   []running
	sources []rewrite.Attribution
	beside  [3]int
	own     rewrite.Owning
}

// NewDecoder is ready for a reply of provider.
func NewDecoder(provider string) *Decoder { return &Decoder{reader: reader{provider}} }

// thinking is an item of reasoning.
type thinking struct {
	open  bool
	index int
	// part says that the part for the text is open.
	part    bool
	member  string
	text    []byte
	details splice.Writer
}

// saying is a message: a text, or a refusal, or both.
type saying struct {
	open         bool
	index, parts int
	kind         rewrite.PartKind
	runes        int
	sources      []rewrite.Attribution
	marks        marked
}

// calling is a call, found by its index in the stream.
type calling struct {
	place, index int
	id           string
	call         rewrite.Call
	// extra is the whole call where a server has hung something on to it.
	extra []byte
	text  []byte
}

// Event reads one chunk of the stream. Data that is not a complete JSON object
// says nothing.
func (d *Decoder) Event(name, data []byte, yield func(*rewrite.Event)) {
	if d.ended {
		return
	}
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		if !d.begun {
			return // of what?
		}
		d.finished = true
		d.end(yield)
		return
	}
	var choice []byte
	var beside [3][]byte
	if !splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "choices":
			choice = firstOf(value)
		case "citations":
			beside[0] = value
		case "search_results":
			beside[1] = value
		case "web_search":
			beside[2] = value
		default:
			d.ownOf(key, value)
		}
		return true
	}) {
		return
	}
	ReadEvent(name, data, &d.report)
	d.ownOfChoice(choice)
	if !d.begun {
		d.begun = true
		d.tell(yield, rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{
			ID: d.report.ID, Model: d.report.Model, Created: d.report.Created, Extra: d.own.Tell(rewrite.Completions),
		}})
	}
	d.choice(choice, yield)
	for i, list := range beside {
		if len(list) != d.beside[i] { // not the one that every chunk repeats
			d.beside[i] = len(list)
			d.found(list)
		}
	}
	if d.report.Failed {
		d.fail(data, choice, yield)
	}
}

// firstOf is the first candidate of a list; a list of them all has them by their
// index.
func firstOf(choices []byte) (first []byte) {
	splice.Elements(choices, func(choice []byte) bool {
		index := 0
		splice.Fields(choice, func(key, value []byte) bool {
			if string(key) == "index" {
				n, _ := splice.Int(value)
				index = int(n)
			}
			return true
		})
		if index == 0 {
			first = choice
		}
		return index != 0
	})
	return first
}

// Close ends the stream. Servers that never say that they are done have ended
// with their reason to stop; without that, the reply was cut.
func (d *Decoder) Close(yield func(*rewrite.Event)) {
	if d.finished && !d.ended {
		d.end(yield)
	}
}

// tell hands over the event; it is told of one at a time.
func (d *Decoder) tell(yield func(*rewrite.Event), e rewrite.Event) {
	d.event = e
	yield(&d.event)
}

// choice reads the candidate of a chunk.
func (d *Decoder) choice(choice []byte, yield func(*rewrite.Event)) {
	var m messageFields
	splice.Fields(choice, func(key, value []byte) bool {
		switch string(key) {
		case "delta", "message":
			splice.Fields(value, m.set)
		case "text":
			m.content = value
		case "finish_reason":
			if word, ok := splice.String(value); ok && len(word) > 0 {
				d.finished, d.word = true, string(word)
			}
		}
		return true
	})
	if !splice.Empty(m.shown) || !splice.Empty(m.details) {
		d.think(&m, yield)
	}
	if !splice.Empty(m.executed) {
		d.run(m.executed, yield)
	}
	if !splice.Empty(m.content) {
		d.content(m.content, yield)
	}
	if !splice.Empty(m.refusal) {
		d.say(rewrite.PartRefusal, m.refusal, yield)
	}
	if !splice.Empty(m.annotations) {
		d.annotate(m.annotations, yield)
	}
	splice.Elements(m.images, func(image []byte) bool {
		d.picture(image, yield)
		return true
	})
	splice.Elements(m.calls, func(call []byte) bool {
		d.call(call, yield)
		return true
	})
	if !splice.Empty(m.function) {
		d.legacy(m.function, yield)
	}
}

// content reads text, which some servers send in parts among which there is
// reasoning.
func (d *Decoder) content(value []byte, yield func(*rewrite.Event)) {
	if value[0] == '"' {
		d.say(rewrite.PartText, value, yield)
		return
	}
	splice.Elements(value, func(part []byte) bool {
		var kind string
		var text, thoughts []byte
		splice.Fields(part, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				kind = splice.Text(value)
			case "text":
				text = value
			case "thinking":
				thoughts = value
			}
			return true
		})
		switch kind {
		case "text":
			d.say(rewrite.PartText, text, yield)
		case "reference", "tool_reference":
			// It stands where the text rests on it.
			d.source(d.attribution(clone(part)), yield)
		case "thinking":
			splice.Elements(thoughts, func(thought []byte) bool {
				splice.Fields(thought, func(key, value []byte) bool {
					if string(key) == "text" {
						d.think(&messageFields{shown: value, shownAs: "reasoning_content"}, yield)
					}
					return true
				})
				return true
			})
		}
		return true
	})
}

// item opens an item.
func (d *Decoder) item(item *rewrite.Item, yield func(*rewrite.Event)) int {
	d.items++
	d.tell(yield, rewrite.Event{Kind: rewrite.EventItem, Index: d.items - 1, Item: item})
	return d.items - 1
}

// think goes on with the reasoning.
func (d *Decoder) think(m *messageFields, yield func(*rewrite.Event)) {
	t := &d.thought
	if !t.open {
		d.closeSaid(yield)
		*t = thinking{open: true}
		t.details.Open('[')
		t.index = d.item(&rewrite.Item{Kind: rewrite.ItemReasoning, Payload: d.payload("reasoning", nil)}, yield)
	}
	if !splice.Empty(m.details) && splice.Valid(m.details) == nil {
		splice.Elements(m.details, func(entry []byte) bool {
			t.details.Raw(entry)
			return true
		})
	}
	text, ok := splice.AppendText(d.text[:0], m.shown)
	if d.text = text; !ok || len(text) == 0 {
		return
	}
	t.member = m.shownAs
	t.text = append(t.text, text...)
	if !t.part {
		t.part = true
		d.tell(yield, rewrite.Event{Kind: rewrite.EventPart, Index: t.index, Part: &rewrite.Part{}})
	}
	d.tell(yield, rewrite.Event{Kind: rewrite.EventText, Index: t.index, Text: text})
}

// closeThought closes the reasoning: what the provider wants back are the members
// in which it came.
func (d *Decoder) closeThought(yield func(*rewrite.Event)) {
	t := &d.thought
	if !t.open {
		return
	}
	t.open = false
	if t.part {
		d.tell(yield, rewrite.Event{Kind: rewrite.EventPartDone, Index: t.index, Part: &rewrite.Part{}})
	}
	var w splice.Writer
	w.Open('{')
	if len(t.text) > 0 {
		w.Name(t.member)
		w.Bytestring(t.text)
	}
	if t.details.Size() > 1 {
		t.details.Close(']')
		w.Value("reasoning_details", t.details.Bytes())
	}
	w.Close('}')
	last := rewrite.Item{Kind: rewrite.ItemReasoning, Payload: d.payload("reasoning", w.Bytes())}
	d.tell(yield, rewrite.Event{Kind: rewrite.EventDone, Index: t.index, Item: &last})
}

// legacy reads a call of the time when there was one at most.
func (d *Decoder) legacy(function []byte, yield func(*rewrite.Event)) {
	var w splice.Writer
	w.Literal(`{"index":0,"id":"call_0"`)
	w.Value("function", function)
	w.Close('}')
	d.call(w.Bytes(), yield)
}

// nameless is the name of a call that the server has given none.
func (d *Decoder) nameless(place int) string {
	return "call_" + d.report.ID + "_" + strconv.Itoa(place)
}
