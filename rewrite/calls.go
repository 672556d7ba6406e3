package rewrite

import (
	"slices"
	"strconv"
	"strings"
)

// NameCalls gives each call an identifier of its own, and its result the same: some
// providers count from zero in every reply, or give none, and others refuse that, or
// would take one call's result for another's. A call that nobody else is called like
// keeps its identifier, and one that was renamed is called the same with every
// later request. What its provider has made keeps it too.
func (c *Conversation) NameCalls() {
	taken, twice := map[string]bool{}, false
	for i := range c.Items {
		if item := &c.Items[i]; item.Kind == ItemCall {
			id := plainID(item.Call.ID)
			twice = twice || id == "" || taken[id]
			taken[id] = true
		}
	}
	if !twice {
		return
	}
	c.Items = slices.Clone(c.Items)
	clear(taken)
	n := naming{taken: taken, open: map[string][]string{}, since: map[string]int{}, last: map[string]int{}}
	turn, model := 0, false
	for i := range c.Items {
		item := &c.Items[i]
		if side := item.Side() == RoleAssistant; side != model {
			model = side
			turn++
		}
		switch item.Kind {
		case ItemCall:
			if id := n.call(item.Call.ID, turn, item.Payload.Provider == ""); id != item.Call.ID {
				item.Call.ID, item.Payload = id, Payload{}
			}
		case ItemResult:
			if id := n.result(item.Call.ID); id != item.Call.ID {
				item.Call.ID, item.Payload = id, Payload{}
			}
		case ItemMessage, ItemReasoning, ItemHosted, ItemDirective, ItemOpaque:
		}
	}
}

// naming is how far the calls of a conversation have been named.
type naming struct {
	taken map[string]bool
	// open are the names of the calls of an identifier that wait for their results,
	// and since in which turn they were made.
	open  map[string][]string
	since map[string]int
	// last are the numbers that were given last, by identifier.
	last map[string]int
}

// call names a call.
func (n *naming) call(id string, turn int, may bool) string {
	name := id
	more := max(n.last[id], 1)
	for may && (name == "" || n.taken[plainID(name)]) {
		more++
		name = id + "_" + strconv.Itoa(more)
		if id == "" {
			name = "call" + name
		}
	}
	n.taken[plainID(name)], n.last[id] = true, more
	if n.since[id] != turn {
		n.since[id], n.open[id] = turn, nil // nobody has answered the ones before
	}
	n.open[id] = append(n.open[id], name)
	return name
}

// result is the name of the call that a result is of.
func (n *naming) result(id string) string {
	waiting := n.open[id]
	if len(waiting) == 0 {
		return id
	}
	n.open[id] = waiting[1:]
	return waiting[0]
}

// plainID is an identifier as the strictest dialects spell it.
func plainID(id string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}
