package rewrite

// InTurn tells the events of items that are open side by side one item after the
// other, in the order in which they were opened, and the parts of an item
// likewise: for dialects in which only one thing is open at a time. What comes
// for another item or part waits. The zero InTurn is ready for a reply.
type InTurn struct {
	yield   func(*Event)
	open    bool
	item    Item // as it was opened
	index   int
	part    int // that is open, or -1
	later   []Event
	waiting []*heldItem
}

// heldItem is an item that waits, with its events.
type heldItem struct {
	index  int
	events []Event
}

// Add takes the next event and yields those whose turn has come. An end closes
// what was never closed: parts, and items as incomplete ones. Events of items
// and parts that were never opened are dropped.
func (q *InTurn) Add(e *Event, yield func(*Event)) {
	q.yield = yield
	switch e.Kind {
	case EventBegin, EventUsage, EventError:
		yield(e)
	case EventEnd:
		q.closeAll()
		yield(e)
	case EventItem:
		if q.open {
			q.waiting = append(q.waiting, &heldItem{e.Index, []Event{e.Keep()}})
		} else {
			q.start(e)
		}
	case EventPart, EventText, EventArguments, EventAttribution, EventPartDone, EventDone:
		if q.open && q.index == e.Index {
			q.within(e)
			q.next()
			return
		}
		for _, h := range q.waiting {
			if h.index == e.Index {
				h.events = append(h.events, e.Keep())
				return
			}
		}
	}
}

// start gives an item the floor.
func (q *InTurn) start(e *Event) {
	q.open, q.index, q.part, q.later = true, e.Index, -1, nil
	q.item = e.Item.keep()
	q.yield(e)
}

// next tells the items that wait, as long as the floor is free.
func (q *InTurn) next() {
	for !q.open && len(q.waiting) > 0 {
		h := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.start(&h.events[0])
		for i := 1; i < len(h.events) && q.open; i++ {
			q.within(&h.events[i])
		}
	}
}

// within takes an event of the item that has the floor.
func (q *InTurn) within(e *Event) {
	switch {
	case e.Kind == EventDone:
		q.settle()
		q.open = false
		q.yield(e)
	case e.Kind == EventArguments:
		q.yield(e)
	case q.part >= 0 && q.part != e.PartIndex:
		q.later = append(q.later, e.Keep())
	case e.Kind == EventPart:
		q.part = e.PartIndex
		q.yield(e)
	case q.part < 0: // nobody's
	case e.Kind == EventPartDone:
		q.part = -1
		q.yield(e)
		q.release()
	default:
		q.yield(e)
	}
}

// release tells what waited for a part to end, until another is open.
func (q *InTurn) release() {
	for q.part < 0 && len(q.later) > 0 {
		later := q.later
		q.later = nil
		for i := range later {
			q.within(&later[i])
		}
	}
}

// settle ends every part of the item that has the floor.
func (q *InTurn) settle() {
	for q.part >= 0 || len(q.later) > 0 {
		if q.part >= 0 {
			part := q.part
			q.part = -1
			q.yield(&Event{Kind: EventPartDone, Index: q.index, PartIndex: part, Part: &Part{}})
		}
		q.release()
	}
}

// closeAll ends the items that were never closed.
func (q *InTurn) closeAll() {
	for q.open || len(q.waiting) > 0 {
		if q.open {
			q.settle()
			q.open = false
			last := q.item
			last.Payload, last.Incomplete = Payload{}, true
			q.yield(&Event{Kind: EventDone, Index: q.index, Item: &last})
		}
		q.next()
	}
}
