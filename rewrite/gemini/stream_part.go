package gemini

import (
	"bytes"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// part reads a part of the candidate.
func (d *Decoder) part(p *part) {
	plain := p.signature == nil && !p.more
	switch {
	case p.kind == "text" && plain && len(p.data) == 2:
		// An empty text says nothing.
	case p.kind == "text" && plain && p.thought:
		d.think(p)
	case p.thought, p.signature != nil && (p.kind == "" || p.kind == "text" && len(p.data) == 2):
		d.signedThought(p)
	case p.kind == "text" || p.kind == "inlineData" || p.kind == "fileData":
		d.write(p, plain)
	case p.kind == "functionCall":
		d.endThought()
		d.call(p)
	default:
		d.endThought()
		item := rewrite.Item{Kind: rewrite.ItemOpaque, Role: rewrite.RoleAssistant, Payload: payload(d.provider, "part", p.raw)}
		var input rewrite.JSON
		if hosted, ok := readHosted(p); ok {
			input, hosted.Input = hosted.Input, nil
			item.Kind, item.ID, item.Hosted = rewrite.ItemHosted, hosted.ID, hosted
			d.traced = append(d.traced, hosted.Name)
		}
		d.whole(&item, input)
		d.passed(runNone)
	}
}

// tell yields a piece of text.
func (d *Decoder) tell(kind rewrite.EventKind, item, part int, text []byte) {
	if len(text) > 0 {
		d.event = rewrite.Event{Kind: kind, Index: item, PartIndex: part, Text: text}
		d.yield(&d.event)
	}
}

// open opens an item.
func (d *Decoder) open(item *rewrite.Item) int {
	d.yield(&rewrite.Event{Kind: rewrite.EventItem, Index: d.items, Item: item})
	d.items++
	return d.items - 1
}

// passed counts a part of the candidate that is no text of the answer.
func (d *Decoder) passed(next run) {
	d.parts, d.last = append(d.parts, said{item: -1}), next
}

// whole tells an item that is complete when it comes.
func (d *Decoder) whole(item *rewrite.Item, arguments rewrite.JSON) {
	index := d.open(item)
	d.tell(rewrite.EventArguments, index, 0, arguments)
	d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: index, Item: item})
}

// think goes on with a thought that comes in pieces.
func (d *Decoder) think(p *part) {
	if d.last != runThought {
		d.thought = d.open(&rewrite.Item{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant})
		d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: d.thought, Part: &rewrite.Part{Kind: rewrite.PartSummary}})
		d.passed(runThought)
	}
	d.scratch, _ = splice.AppendText(d.scratch[:0], p.data)
	d.tell(rewrite.EventText, d.thought, 0, d.scratch)
}

// endThought closes the thought that was under way.
func (d *Decoder) endThought() {
	if d.last != runThought {
		return
	}
	d.last = runNone
	d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: d.thought, Part: &rewrite.Part{Kind: rewrite.PartSummary}})
	d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: d.thought, Item: &rewrite.Item{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant}})
}

// signedThought tells a thought, or a signature that stands alone.
func (d *Decoder) signedThought(p *part) {
	d.endThought()
	item := rewrite.Item{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: payload(d.provider, "thought", p.raw)}
	index := d.open(&item)
	if d.scratch, _ = splice.AppendText(d.scratch[:0], p.data); p.kind == "text" && len(d.scratch) > 0 {
		shown := rewrite.Part{Kind: rewrite.PartSummary}
		d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: index, Part: &shown})
		d.tell(rewrite.EventText, index, 0, d.scratch)
		d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: index, Part: &shown})
	}
	d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: index, Item: &item})
	d.passed(runNone)
}

// write goes on with the answer: with its last text, or with a part of its own.
func (d *Decoder) write(p *part, plain bool) {
	d.endThought()
	joins := plain && p.kind == "text"
	if !joins || d.last != runText {
		if d.last != runText && d.last != runSigned {
			d.message, d.texts = d.open(&rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}), 0
		}
		var part rewrite.Part
		if p.kind != "text" {
			part, _ = mediaPart(p)
		}
		if !plain {
			part.Payload = payload(d.provider, "part", p.raw)
		}
		d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: d.message, PartIndex: d.texts, Part: &part})
		part.Payload.Value = bytes.Clone(part.Payload.Value)
		d.parts = append(d.parts, said{item: d.message, part: d.texts, head: part})
		d.texts++
	}
	if d.last = runSigned; joins {
		d.last = runText
	}
	if p.kind != "text" {
		return
	}
	d.scratch, _ = splice.AppendText(d.scratch[:0], p.data)
	of := &d.parts[len(d.parts)-1]
	of.text = append(of.text, d.scratch...)
	d.tell(rewrite.EventText, of.item, of.part, d.scratch)
}

// call tells a call of a client's function. One whose arguments come in pieces
// stays open: nobody can run it.
func (d *Decoder) call(p *part) {
	f := &p.fields
	item := rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant}
	item.Call = rewrite.Call{ID: splice.Text(f.id), Name: splice.Text(f.name)}
	if item.Call.ID == "" {
		item.Call.ID = made + d.id + "_" + strconv.Itoa(d.calls)
	}
	d.calls++
	// Unsigned ones are kept too: another model's would be signed in their place.
	item.Payload = payload(d.provider, "functionCall", p.raw)
	arguments := rewrite.JSON(f.args)
	if len(arguments) == 0 {
		arguments = rewrite.JSON("{}")
	}
	if bytes.Contains(p.data, []byte("partialArgs")) {
		item.Payload = rewrite.Payload{}
		d.open(&item)
	} else {
		d.whole(&item, arguments)
	}
	d.passed(runNone)
}

// end tells the sources, closes what is open and ends the reply.
func (d *Decoder) end() {
	d.endThought()
	d.tellSources()
	for i, p := range d.parts {
		if p.item < 0 {
			continue
		}
		d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: p.item, PartIndex: p.part, Part: &p.head})
		if i+1 == len(d.parts) || d.parts[i+1].item != p.item {
			d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: p.item, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}})
		}
	}
	d.ended = true
	e := rewrite.Event{Kind: rewrite.EventEnd, Stop: rewrite.Stop{Reason: d.report.Stop, Word: d.word}}
	if d.late = append(d.late, d.own.Tell(rewrite.Gemini)...); len(d.late) > 0 {
		e.Reply = &rewrite.Reply{Extra: d.late}
	}
	d.yield(&e)
}
