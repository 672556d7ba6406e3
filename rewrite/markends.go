package rewrite

// Marked reports whether anything in the conversation asks to be cached.
func (c *Conversation) Marked() bool {
	for i := range c.Tools {
		if c.Tools[i].Mark.Set {
			return true
		}
	}
	for i := range c.System {
		if c.System[i].Mark.Set {
			return true
		}
	}
	for i := range c.Items {
		item := &c.Items[i]
		if item.Mark.Set {
			return true
		}
		for j := range item.Parts {
			if item.Parts[j].Mark.Set {
				return true
			}
		}
	}
	return c.HasExtra(Messages, "cache_control")
}

// Heard is how many times the model has spoken.
func (c *Conversation) Heard() (n int) {
	inside := false
	for i := range c.Items {
		model := c.Items[i].Side() == RoleAssistant
		if model && !inside {
			n++
		}
		inside = model
	}
	return n
}

// MarkStart marks the end of the standing instruction, or of the tools where there
// is none: what the conversations of an agent have in common.
func (c *Conversation) MarkStart() {
	if n := len(c.System); n > 0 {
		c.System[n-1].Mark.Set = true
	} else if n := len(c.Tools); n > 0 {
		c.Tools[n-1].Mark.Set = true
	}
}

// MarkEnds marks the end of the standing instruction, of the prompt, and of the
// prompt before it: for a provider that caches nothing by itself, and a client
// that has marked nothing. Where the newest turn is long, what was written with
// the turn before is found by the mark behind that.
func (c *Conversation) MarkEnds() {
	c.MarkStart()
	left, passed := 2, true
	for i := len(c.Items) - 1; i >= 0 && left > 0; i-- {
		switch item := &c.Items[i]; {
		case item.Side() == RoleAssistant:
			passed = true
		case item.Side() == RoleUser && passed:
			item.Mark.Set, passed = true, false
			left--
		}
	}
}
