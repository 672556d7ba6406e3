package rewrite

import "slices"

// Fold puts the events of a reply together. The zero Fold is ready for a reply;
// it keeps copies of all that it is told.
type Fold struct {
	reply Reply
	// text has the open parts and arguments, which grow.
	open []folding
}

// folding is an item under construction.
type folding struct {
	parts     [][]byte
	ended     []bool // by part
	arguments []byte
	done      bool
}

// Add takes the next event. Events of items that were never opened are ignored.
func (f *Fold) Add(e *Event) {
	switch e.Kind {
	case EventBegin:
		f.reply.ID, f.reply.Model, f.reply.Created = e.Reply.ID, e.Reply.Model, e.Reply.Created
		f.extra(e.Reply.Extra)
	case EventItem:
		item := e.Item.keep()
		f.reply.Items, f.open = append(f.reply.Items, item), append(f.open, folding{})
	case EventUsage:
		f.reply.Usage = *e.Usage
	case EventEnd:
		f.reply.Stop = e.Stop
		f.reply.Stop.Details = slices.Clone(e.Stop.Details)
		if e.Reply != nil {
			f.extra(e.Reply.Extra)
		}
	case EventError:
		fault := *e.Fault
		f.reply.Fault = &fault
	case EventPart, EventText, EventArguments, EventAttribution, EventPartDone, EventDone:
		if e.Index >= 0 && e.Index < len(f.open) && !f.open[e.Index].done {
			f.within(e, &f.reply.Items[e.Index], &f.open[e.Index])
		}
	}
}

// extra adds members that have no field. What is told again takes the place of what
// was told before.
func (f *Fold) extra(members []Member) {
	for _, m := range members {
		m.Value = slices.Clone(m.Value)
		if at := slices.IndexFunc(f.reply.Extra, func(told Member) bool { return told.Name == m.Name }); at >= 0 {
			f.reply.Extra[at] = m
			continue
		}
		f.reply.Extra = append(f.reply.Extra, m)
	}
}

// within takes an event of an open item.
func (f *Fold) within(e *Event, item *Item, open *folding) {
	switch e.Kind {
	case EventPart:
		item.Parts, open.parts = append(item.Parts, e.Part.keep()), append(open.parts, []byte(e.Part.Text))
		open.ended = append(open.ended, false)
		return
	case EventArguments:
		open.arguments = append(open.arguments, e.Text...)
		return
	case EventDone:
		f.done(e.Item, item, open)
		return
	}
	if e.PartIndex < 0 || e.PartIndex >= len(item.Parts) {
		return
	}
	part := &item.Parts[e.PartIndex]
	switch e.Kind {
	case EventText:
		open.parts[e.PartIndex] = append(open.parts[e.PartIndex], e.Text...)
	case EventAttribution:
		part.Attributions = append(part.Attributions, e.Attribution.keep())
	case EventPartDone:
		text, sources := part.Text, part.Attributions
		*part = e.Part.keep()
		part.Text, open.ended[e.PartIndex] = text, true
		if len(e.Part.Attributions) == 0 {
			part.Attributions = sources
		}
	}
}

// Keep is a copy of the event that outlives the call which received it, but for
// Reply and Usage.
func (e *Event) Keep() Event {
	kept := *e
	kept.Text = slices.Clone(e.Text)
	if e.Item != nil {
		item := e.Item.keep()
		kept.Item = &item
	}
	if e.Part != nil {
		part := e.Part.keep()
		kept.Part = &part
	}
	if e.Attribution != nil {
		source := e.Attribution.keep()
		kept.Attribution = &source
	}
	return kept
}

// keep is the item without its parts, in memory of its own.
func (i *Item) keep() Item {
	item := *i
	item.Parts = nil
	item.Call.Arguments, item.Hosted.Input = slices.Clone(i.Call.Arguments), slices.Clone(i.Hosted.Input)
	item.Hosted.Sources = keepAll(i.Hosted.Sources)
	item.Payload.Value = slices.Clone(i.Payload.Value)
	return item
}

func (p *Part) keep() Part {
	part := *p
	part.Annotations, part.Payload.Value = slices.Clone(p.Annotations), slices.Clone(p.Payload.Value)
	part.Attributions = keepAll(p.Attributions)
	return part
}

func (a *Attribution) keep() Attribution {
	source := *a
	source.Payload.Value = slices.Clone(a.Payload.Value)
	return source
}

func keepAll(sources []Attribution) []Attribution {
	kept := slices.Clone(sources)
	for i := range kept {
		kept[i] = sources[i].keep()
	}
	return kept
}

// done closes an item with what is known only now.
func (f *Fold) done(last, item *Item, open *folding) {
	parts := item.Parts
	if last != nil {
		arguments := item.Call.Arguments
		*item = last.keep()
		if len(item.Call.Arguments) == 0 {
			item.Call.Arguments = arguments
		}
	}
	item.Parts = parts
	f.settle(item, open)
	open.done = true
}

// settle gives an item the text that has come for it.
func (f *Fold) settle(item *Item, open *folding) {
	for i := range item.Parts {
		item.Parts[i].Text = string(open.parts[i])
	}
	if len(open.arguments) == 0 {
		return
	}
	if item.Kind == ItemHosted {
		item.Hosted.Input = open.arguments
	} else {
		item.Call.Arguments = open.arguments
	}
}

// Item is what has been told so far of an item, which is whole once it was closed.
// It must not be changed.
func (f *Fold) Item(index int) *Item { return &f.reply.Items[index] }

// Reply is what has been told so far. Items that were not closed are marked as
// incomplete. The Fold must not be used any more.
func (f *Fold) Reply() *Reply {
	for i := range f.open {
		if open := &f.open[i]; !open.done {
			f.settle(&f.reply.Items[i], open)
			f.reply.Items[i].Incomplete = true
			// What is not whole is nothing that its provider has made.
			f.reply.Items[i].Payload = Payload{}
			for j := range f.reply.Items[i].Parts {
				if open.ended[j] {
					continue
				}
				f.reply.Items[i].Parts[j].Payload = Payload{}
				for k := range f.reply.Items[i].Parts[j].Attributions {
					f.reply.Items[i].Parts[j].Attributions[k].Incomplete = true
				}
			}
		}
	}
	return &f.reply
}

// Tell gives the events of a whole reply.
func (r *Reply) Tell(yield func(*Event)) {
	yield(&Event{Kind: EventBegin, Reply: r})
	for i := range r.Items {
		item := &r.Items[i]
		head := *item
		head.Parts, head.Call.Arguments = nil, nil
		yield(&Event{Kind: EventItem, Index: i, Item: &head})
		for j := range item.Parts {
			part := item.Parts[j]
			part.Text, part.Attributions = "", nil
			yield(&Event{Kind: EventPart, Index: i, PartIndex: j, Part: &part})
			if text := item.Parts[j].Text; text != "" {
				yield(&Event{Kind: EventText, Index: i, PartIndex: j, Text: []byte(text)})
			}
			for k := range item.Parts[j].Attributions {
				yield(&Event{Kind: EventAttribution, Index: i, PartIndex: j, Attribution: &item.Parts[j].Attributions[k]})
			}
			yield(&Event{Kind: EventPartDone, Index: i, PartIndex: j, Part: &part})
		}
		if len(item.Call.Arguments) > 0 {
			yield(&Event{Kind: EventArguments, Index: i, Text: item.Call.Arguments})
		}
		if !item.Incomplete {
			last := *item
			last.Parts = nil
			yield(&Event{Kind: EventDone, Index: i, Item: &last})
		}
	}
	if r.Usage.Known() {
		yield(&Event{Kind: EventUsage, Usage: &r.Usage})
	}
	switch {
	case r.Fault != nil:
		yield(&Event{Kind: EventError, Fault: r.Fault})
	case r.Stop.Reason != StopUnknown:
		yield(&Event{Kind: EventEnd, Stop: r.Stop})
	}
}
