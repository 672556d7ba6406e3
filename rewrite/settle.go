package rewrite

import "slices"

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
