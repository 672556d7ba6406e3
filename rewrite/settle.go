package rewrite

import (
	"slices"
	"strconv"
)

// Offered are the names of the tools that are offered at the end of the
// conversation: the catalogue without those that wait, as its directives have
// changed it.
func (c *Conversation) Offered() map[string]bool {
	offered := make(map[string]bool, len(c.Tools))
	for i := range c.Tools {
		if t := &c.Tools[i]; !t.Deferred {
			offered[t.Name] = true
		}
	}
	for i := range c.Items {
		for _, name := range c.Items[i].Directive.Remove {
			delete(offered, name)
		}
		for _, name := range c.Items[i].Directive.Add {
			offered[name] = true
		}
	}
	return offered
}

// Declares reports whether the client says itself what of its catalogue is offered
// when: by directives, or by tools that wait although nothing looks for them.
func (c *Conversation) Declares() bool {
	waits, searches := false, false
	for i := range c.Tools {
		waits = waits || c.Tools[i].Deferred
		searches = searches || c.Tools[i].Capability == "tool_search"
	}
	return waits && !searches || slices.ContainsFunc(c.Items, func(i Item) bool { return i.Kind == ItemDirective })
}

// SettleTools leaves of the catalogue what is offered at the end, and no
// directives, for a model whose tools cannot change in mid-conversation. What the
// model may still look for stays.
func (c *Conversation) SettleTools() {
	if !c.Declares() {
		return
	}
	offered := c.Offered()
	searches := slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Capability == "tool_search" })
	c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t Tool) bool {
		return !offered[t.Name] && (!t.Deferred || !searches)
	})
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Deferred && offered[t.Name] {
			// Its provider's own words would say that it waits.
			t.Deferred, t.Payload = false, Payload{}
		}
	}
	c.Items = slices.DeleteFunc(slices.Clone(c.Items), func(i Item) bool { return i.Kind == ItemDirective })
}

// AnchorTools prepares a conversation whose client declares its changes for a model
// that takes them in mid-conversation. Names that the catalogue does not have are
// left out. A catalogue of tools that all wait is refused, so the first of them
// does not, and is taken away behind the first words of the user's; that is the
// same with every request of the conversation.
func (c *Conversation) AnchorTools(losses *Losses) {
	if !c.Declares() {
		return
	}
	known := make(map[string]bool, len(c.Tools))
	for i := range c.Tools {
		known[c.Tools[i].Name] = true
	}
	items := make([]Item, 0, len(c.Items)+1)
	anchor := c.anchor()
	for i := range c.Items {
		item := c.Items[i]
		if item.Kind == ItemDirective && item.Payload.Empty() {
			d := &item.Directive
			d.Add, d.Remove = only(known, d.Add), only(known, d.Remove)
			if missing := len(c.Items[i].Directive.Add) + len(c.Items[i].Directive.Remove) - len(d.Add) - len(d.Remove); missing > 0 {
				// The items behind it may move: its path is that in the request.
				path := item.Path.String()
				if path == "" {
					path = "items." + strconv.Itoa(i)
				}
				losses.Add(path, "a change of a tool that is not in the catalogue")
			}
			if len(d.Add)+len(d.Remove) == 0 {
				continue
			}
		}
		items = append(items, item)
		if anchor >= 0 && item.Kind == ItemMessage && item.Role == RoleUser {
			c.Tools = slices.Clone(c.Tools)
			t := &c.Tools[anchor]
			// Its own words would say that it waits.
			t.Deferred, t.Payload = false, Payload{}
			items = append(items, Item{Kind: ItemDirective, Role: RoleSystem, Directive: Directive{Remove: []string{t.Name}}})
			anchor = -1
		}
	}
	c.Items = items
}

// anchor is the tool that must not wait, because all others do; -1 for none.
func (c *Conversation) anchor() int {
	first := -1
	for i := range c.Tools {
		if !c.Tools[i].Deferred {
			return -1
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// only leaves out the names that are not known.
func only(known map[string]bool, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !known[name] })
}
