package rewrite

import "strings"

// hiding is the part of a chain by which calls are kept from the client.
type hiding struct {
	// is tells the calls by their items as they are opened, and called is told of
	// each that is whole.
	is     func(*Call) bool
	called func(*Item)
	// blank says that a blank line is to stand around what is said.
	blank bool
	// end is the end of a call that is left open.
	end *Event
	// open says that the last item is words of the gateway's own, which were told and
	// not closed: what follows needs a blank line before it.
	open bool
	item int // its index
}

// hides reports an item that the client is not told of.
func (h *hiding) hides(item *Item) bool {
	return h.is != nil && item.Kind == ItemCall && h.is(&item.Call)
}

// Hide keeps calls from the client: they get no index, and nothing of them is told.
// Is says which they are when they are opened, and called is told of each when it is
// whole. Blank says that a blank line is to stand between what is said beside and the
// texts around it, which many clients put together; some encoders do so by
// themselves. It must come before the first event.
func (c *Chain) Hide(is func(*Call) bool, called func(*Item), blank bool) {
	c.hiding.is, c.hiding.called, c.hiding.blank = is, called, blank
}

// Said is the phase of what a chain says on its own.
const Said = "commentary"

// Say tells the client a text that no model has written, as a message in this place.
func (c *Chain) Say(text string) {
	if c.ended || strings.TrimSpace(text) == "" {
		return
	}
	c.release()
	c.last = nil
	c.closeSaid(true)
	item := Item{Kind: ItemMessage, Role: RoleAssistant, Phase: Said}
	c.hiding.open, c.hiding.item = true, c.told
	c.told++
	c.yield(&Event{Kind: EventItem, Index: c.hiding.item, Item: &item})
	c.yield(&Event{Kind: EventPart, Index: c.hiding.item, Part: &Part{}})
	c.saying(c.blank() + text)
}

// saying tells more of the gateway's own words.
func (c *Chain) saying(text string) {
	if text != "" {
		c.yield(&Event{Kind: EventText, Index: c.hiding.item, Text: []byte(text)})
		c.spoken([]byte(text))
	}
}

// closeSaid closes words of the gateway's own, if they are open. With more to come a
// blank line is left.
func (c *Chain) closeSaid(more bool) {
	if !c.hiding.open {
		return
	}
	if more {
		c.saying(c.blank())
	}
	c.hiding.open = false
	c.yield(&Event{Kind: EventPartDone, Index: c.hiding.item, Part: &Part{}})
	c.yield(&Event{Kind: EventDone, Index: c.hiding.item, Item: &Item{Kind: ItemMessage, Role: RoleAssistant, Phase: Said}})
}

// spoken notes how the text ends that was told.
func (c *Chain) spoken(text []byte) {
	if len(text) == 0 {
		return
	}
	ends := 0
	for i := len(text) - 1; i >= 0 && text[i] == '\n'; i-- {
		ends++
	}
	if c.spoke = true; ends == len(text) {
		ends += c.lines
	}
	c.lines = ends
}

// blank is what is missing of a blank line after the last text.
func (c *Chain) blank() string {
	if !c.hiding.blank || !c.spoke || c.lines >= 2 {
		return ""
	}
	return "\n\n"[c.lines:]
}
