package rewrite

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// overlapMost and overlapLeast bound how much of its own last words a model is
	// taken to repeat when it goes on, in code points. Fewer may be chance.
	overlapMost  = 500
	overlapLeast = 5
)

// Chain joins the replies of several calls into one, for a client that has asked
// once: of a model that was cut off at its bound on tokens and is asked to go on,
// of one that its provider has paused, and of one that has called tools which the
// client does not know of. A text that goes on stays one part, less what the model
// repeats of it, and ranges of sources are those in the whole text. Reasoning about
// how to go on is left out.
type Chain struct {
	yield func(*Event)
	// more says of a reply that has ended, in which a tool of the client's may have
	// been called, what becomes of it.
	more   func(stop *Stop, called bool) Course
	called bool
	hiding hiding
	// fold is the reply of the call that is under way, as its provider made it.
	fold Fold
	// places are where its items stand in the whole reply, and told how many items
	// that has.
	places []place
	told   int
	begun  bool
	// on says that the call goes on from one that was cut off or paused, and joins
	// that its first text goes on from the last one.
	on, joins bool
	// spoke says that a text was told, which ended with a number of line ends.
	spoke bool
	lines int
	// held is the end of the last text, and of its item, while it may yet go on.
	held           []Event
	last           *joint // nil if the last part is no text
	earlier, usage Usage
	ended          bool
	// own are the members of replies that only their own dialect has.
	own chainOwn
}

// place is where an item of a call stands in the whole reply.
type place struct {
	// item is its index, or -1 if it is left out; offset is how many of its parts
	// are of earlier calls.
	item, offset int
	// speech says that it is a message, and joins that its first part goes on from
	// the last one.
	speech, joins bool
	// quiet items are no words: a text may go on behind them.
	quiet bool
	// hidden items are calls of which the client is not told.
	hidden bool
}

// joint is a part of text which may go on in another reply.
type joint struct {
	item, part int // in the whole reply
	// tail is the end of its text so far, of length code points in all. From is
	// where the piece of the current call begins, what it repeats included.
	tail         string
	length, from int
	// waiting is what has come of a piece while it may still repeat the tail.
	waiting string
	waits   bool
	pieces  int // that have ended
	// whole are sources of all of a piece, told when the part ends; heard are those
	// that were told.
	whole, heard []Attribution
}

// Course is what becomes of a reply whose call has ended.
type Course uint8

// The courses.
const (
	// CourseEnd ends the reply, CourseOn goes on with another call, and CourseTools
	// does so with results of tools. CourseWait leaves it open until Resume.
	CourseEnd Course = iota
	CourseOn
	CourseTools
	CourseWait
)

// NewChain begins a chain. Its events are those of one reply; more is asked of each
// end that is reached in good order what becomes of it, and told whether a tool of
// the client's was called. It may change why the reply stopped.
func NewChain(yield func(*Event), more func(stop *Stop, called bool) Course) *Chain {
	return &Chain{yield: yield, more: more}
}

// Next gives the items of the call that has ended, as its provider made them, and is
// ready for the reply of the next one.
func (c *Chain) Next() []Item {
	items := c.fold.Reply().Items
	c.fold = Fold{}
	return items
}

// Add takes the next event of the call that is under way.
func (c *Chain) Add(e *Event) {
	if c.ended {
		return
	}
	c.fold.Add(e)
	switch e.Kind {
	case EventBegin:
		if c.own.begin(e.Reply); !c.begun {
			c.begun = true
			c.yield(e)
		}
	case EventItem:
		c.item(e)
	case EventUsage:
		c.usage = *e.Usage
		sum := c.earlier.Plus(c.usage)
		c.yield(&Event{Kind: EventUsage, Usage: &sum})
	case EventEnd:
		c.end(e)
	case EventError:
		c.release()
		c.closeSaid(false)
		c.ended = true
		c.yield(e)
	case EventPart, EventText, EventArguments, EventAttribution, EventPartDone, EventDone:
		if e.Index < 0 || e.Index >= len(c.places) {
			return
		}
		switch at := &c.places[e.Index]; {
		case at.item >= 0:
			c.within(e)
		case at.hidden && e.Kind == EventDone:
			// What was said before the call is over, for whoever notes what it gives.
			c.release()
			c.last = nil
			c.hiding.called(c.fold.Item(e.Index))
		}
	}
}

// end ends the reply, or the call.
func (c *Chain) end(e *Event) {
	stop := e.Stop
	course := c.more(&stop, c.called)
	last := *e
	last.Stop = stop
	if course == CourseWait {
		last = last.Keep()
		last.Stop.Details = slices.Clone(stop.Details)
		c.hiding.end = &last
		return
	}
	c.settled(&last, course)
}

// Resume ends what was left open: the reply with CourseEnd, or the call.
func (c *Chain) Resume(course Course) {
	if last := c.hiding.end; last != nil {
		c.hiding.end = nil
		c.settled(last, course)
	}
}

// settled ends the reply, or the call, as was decided.
func (c *Chain) settled(e *Event, course Course) {
	switch course {
	case CourseEnd, CourseWait:
		c.release()
		c.closeSaid(false)
		c.ended = true
		c.yield(c.own.end(e))
		return
	case CourseTools:
		// The prompt of the last call holds those before it.
		c.earlier, c.usage = c.earlier.Plus(c.usage).Given(), Usage{}
	case CourseOn:
		c.earlier, c.usage = c.earlier.Plus(c.usage), Usage{}
	}
	c.on, c.places = course == CourseOn, nil
	if c.joins = c.on && e.Stop.Reason == StopLength && len(c.held) > 0; !c.joins {
		c.release()
	}
}

// item opens an item, or goes on with the one that was cut off.
func (c *Chain) item(e *Event) {
	for len(c.places) <= e.Index {
		c.places = append(c.places, place{item: -1})
	}
	at := &c.places[e.Index]
	if c.hiding.hides(e.Item) {
		at.hidden = true
		return
	}
	if c.called = c.called || e.Item.Kind == ItemCall; c.on && e.Item.Kind == ItemReasoning {
		return
	}
	if c.joins && e.Item.Kind == ItemMessage {
		c.joins = false
		*at = place{item: c.last.item, offset: c.last.part + 1, speech: true, joins: true}
		c.held = slices.DeleteFunc(c.held, func(e Event) bool { return e.Kind == EventDone })
		return
	}
	*at = place{item: c.told, speech: e.Item.Kind == ItemMessage, quiet: e.Item.Kind == ItemReasoning || e.Item.Kind == ItemOpaque}
	if !at.quiet {
		c.release()
		c.last = nil
	}
	c.closeSaid(true)
	c.told++
	placed := *e
	placed.Index = at.item
	c.yield(&placed)
}

// within takes an event of an item that is told.
func (c *Chain) within(e *Event) {
	at := &c.places[e.Index]
	if e.Kind == EventPart && at.joins {
		at.joins = false
		if e.Part.Kind == PartText && len(c.held) > 0 {
			at.offset--
			c.held, c.last.from, c.last.waits = nil, c.last.length, true
			return
		}
	}
	placed := *e
	placed.Index = at.item
	if e.Kind != EventDone {
		placed.PartIndex += at.offset
	}
	j := c.last
	mine := j != nil && j.item == at.item
	switch {
	case at.quiet:
		c.yield(&placed)
	case e.Kind == EventPart:
		c.release()
		if c.last = nil; at.speech && e.Part.Kind == PartText {
			c.last = &joint{item: placed.Index, part: placed.PartIndex}
		}
		c.yield(&placed)
	case mine && e.Kind == EventDone && len(c.held) > 0:
		c.hold(&placed)
	case mine && placed.PartIndex == j.part && e.Kind != EventDone && e.Kind != EventArguments:
		c.ofJoint(&placed)
	default:
		c.release()
		if c.yield(&placed); e.Kind == EventText && at.speech {
			c.spoken(e.Text)
		}
	}
}

// ofJoint takes an event of the part that may go on.
func (c *Chain) ofJoint(e *Event) {
	j := c.last
	switch e.Kind {
	case EventText:
		if j.waits {
			j.waiting += string(e.Text)
			if utf8.RuneCountInString(j.waiting) < overlapMost {
				return
			}
			c.settle()
			return
		}
		c.say(e.Text)
	case EventAttribution:
		c.settle()
		a := e.Attribution.keep()
		if a.Start == a.End {
			j.whole = append(j.whole, a)
			return
		}
		a.Start, a.End = a.Start+j.from, a.End+j.from
		c.cite(&a)
	case EventPartDone:
		c.settle()
		c.hold(e)
	case EventBegin, EventItem, EventPart, EventArguments, EventDone, EventUsage, EventEnd, EventError:
	}
}

// say tells more of the part's text.
func (c *Chain) say(text []byte) {
	j := c.last
	if len(text) == 0 {
		return
	}
	j.length += utf8.RuneCount(text)
	j.tail += string(text)
	if cut := len(j.tail) - utf8.UTFMax*overlapMost; cut > utf8.UTFMax*overlapMost {
		for !utf8.RuneStart(j.tail[cut]) {
			cut++
		}
		j.tail = j.tail[cut:]
	}
	c.yield(&Event{Kind: EventText, Index: j.item, PartIndex: j.part, Text: text})
	c.spoken(text)
}

// settle decides what a piece repeats, and tells the rest of what has come of it.
func (c *Chain) settle() {
	j := c.last
	if !j.waits {
		return
	}
	waiting, repeated := j.waiting, overlap(j.tail, j.waiting)
	j.waits, j.waiting = false, ""
	j.from -= utf8.RuneCountInString(waiting[:repeated])
	c.say([]byte(waiting[repeated:]))
}

// overlap is the length in bytes of the longest beginning of a piece which is the
// end of what stands before it, within bounds.
func overlap(before, piece string) int {
	var ends []int
	for at := range piece {
		if at > 0 {
			ends = append(ends, at)
		}
		if len(ends) >= overlapMost {
			break
		}
	}
	if len(ends) < overlapMost && piece != "" {
		ends = append(ends, len(piece))
	}
	for i, end := range slices.Backward(ends) {
		if i+1 < overlapLeast {
			return 0
		}
		if strings.HasSuffix(before, piece[:end]) {
			return end
		}
	}
	return 0
}

// cite tells a source, unless it was told for the same range.
func (c *Chain) cite(a *Attribution) {
	j := c.last
	for i := range j.heard {
		if h := &j.heard[i]; h.URL == a.URL && h.Title == a.Title && h.Start == a.Start && h.End == a.End && h.Excerpt == a.Excerpt {
			return
		}
	}
	j.heard = append(j.heard, *a)
	c.yield(&Event{Kind: EventAttribution, Index: j.item, PartIndex: j.part, Attribution: a})
}

// hold keeps the end of the part, or of its item, until it is known whether it goes
// on. What is of several pieces is nothing that a provider has made.
func (c *Chain) hold(e *Event) {
	j := c.last
	kept := e.Keep()
	if e.Kind == EventPartDone {
		j.pieces++
		for i := range j.whole {
			if a := &j.whole[i]; a.Start == a.End {
				a.Start, a.End = j.from, j.length
			}
		}
	}
	if j.pieces > 1 {
		if kept.Part != nil {
			kept.Part.Payload, kept.Part.Attributions = Payload{}, nil
		}
		if kept.Item != nil {
			kept.Item.Payload = Payload{}
		}
	}
	c.held = append(c.held, kept)
}

// release tells what is held: nothing goes on from there.
func (c *Chain) release() {
	c.joins = false
	if j := c.last; j != nil {
		c.settle()
		for i := range j.whole {
			a := j.whole[i]
			if j.pieces <= 1 {
				a.Start, a.End = 0, 0 // of all of the part, after all
			}
			c.cite(&a)
		}
		j.whole = nil
	}
	held := c.held
	c.held = nil
	for i := range held {
		c.yield(&held[i])
	}
}
