package anthropic

import (
	"strconv"

	"warmpath/rewrite"
)

// placed is a part with the path that losses name it by.
type placed struct {
	path string
	part *rewrite.Part
}

// layout is a conversation in the order of this dialect.
type layout struct {
	system   []placed
	messages []rewrite.Turn
}

// layout packs the items into messages. Clients of this dialect keep its order
// themselves.
func (rw *requestWriter) layout() (l layout) {
	for i := range rw.c.System {
		l.system = append(l.system, placed{"system." + strconv.Itoa(i), &rw.c.System[i]})
	}
	if rw.own {
		for _, e := range rw.c.Entries() {
			l.add(e)
		}
		return l
	}
	opening, turns := rw.c.LayOut()
	for _, e := range opening {
		for i := range e.Item.Parts {
			l.system = append(l.system, placed{e.Path + ".parts." + strconv.Itoa(i), &e.Item.Parts[i]})
		}
	}
	l.messages = turns
	return l
}

// add adds an entry to the last message, or begins another. A system message
// that the client has written as a whole stands for itself.
func (l *layout) add(e rewrite.Entry) {
	role, last := e.Item.Side(), len(l.messages)-1
	if last < 0 || l.messages[last].Role != role || wholeSystem(e.Item) || wholeSystem(l.messages[last].Entries[0].Item) {
		l.messages = append(l.messages, rewrite.Turn{Role: role})
		last++
	}
	l.messages[last].Entries = append(l.messages[last].Entries, e)
}

// wholeSystem reports an item whose payload is a whole message.
func wholeSystem(item *rewrite.Item) bool {
	return item.Kind == rewrite.ItemMessage && (item.Payload.Format == format(systemMessage) || item.Payload.Format == format(turnScoped))
}
