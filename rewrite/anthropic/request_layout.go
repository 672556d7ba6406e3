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

// entry is an item with its path. A missing entry is a result that nobody gave,
// and an orphan one whose call is nowhere.
type entry struct {
	path            string
	item            *rewrite.Item
	missing, orphan bool
}

// laid is one message of the request.
type laid struct {
	role    rewrite.Role
	entries []entry
	// told says that a system message has no place of its own here and is told
	// to the user's side.
	told bool
}

// layout is a conversation in the order of this dialect.
type layout struct {
	system   []placed
	messages []laid
}

// side is whose message an item stands in.
func side(item *rewrite.Item) rewrite.Role {
	switch item.Kind {
	case rewrite.ItemReasoning, rewrite.ItemCall, rewrite.ItemHosted:
		return rewrite.RoleAssistant
	case rewrite.ItemResult:
		return rewrite.RoleUser
	case rewrite.ItemDirective:
		return rewrite.RoleSystem
	case rewrite.ItemMessage, rewrite.ItemOpaque:
	}
	return item.Role
}

// layout packs the items into messages.
//
// Clients of other dialects put instructions and results where this one does not
// take them. Theirs are laid out anew, so that a turn that was written once is
// written so again: what opens the conversation joins the system prompt, results
// come first in the user's turn, and instructions last. An instruction between
// two turns of the model becomes a turn of the user.
func (rw *requestWriter) layout() (l layout) {
	for i := range rw.c.System {
		l.system = append(l.system, placed{"system." + strconv.Itoa(i), &rw.c.System[i]})
	}
	var entries []entry
	for i := range rw.c.Items {
		entries = append(entries, entry{path: "items." + strconv.Itoa(i), item: &rw.c.Items[i]})
	}
	if rw.own {
		for _, e := range entries {
			l.add(side(e.item), e)
		}
		return l
	}
	for len(entries) > 0 && entries[0].item.Kind == rewrite.ItemMessage && entries[0].item.Role == rewrite.RoleSystem {
		for i := range entries[0].item.Parts {
			l.system = append(l.system, placed{entries[0].path + ".parts." + strconv.Itoa(i), &entries[0].item.Parts[i]})
		}
		entries = entries[1:]
	}
	p := pairing(entries)
	for len(entries) > 0 {
		n := 0
		for n < len(entries) && (side(entries[n].item) == rewrite.RoleAssistant) == (side(entries[0].item) == rewrite.RoleAssistant) {
			n++
		}
		turn := entries[:n]
		entries = entries[n:]
		if side(turn[0].item) == rewrite.RoleAssistant {
			for _, e := range turn {
				l.add(rewrite.RoleAssistant, e)
				p.call(e)
			}
			if len(entries) == 0 {
				l.results(p.take())
			}
			continue
		}
		l.userTurn(p, turn)
	}
	if len(l.messages) > 0 && l.messages[0].role == rewrite.RoleAssistant {
		opening := entry{item: &rewrite.Item{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{{Text: "(The conversation begins.)"}}}}
		l.messages = append([]laid{{role: rewrite.RoleUser, entries: []entry{opening}}}, l.messages...)
	}
	return l
}

// userTurn lays out what stands between two turns of the model.
func (l *layout) userTurn(p *pairs, turn []entry) {
	l.results(p.take())
	said := false
	for _, e := range turn {
		switch {
		case e.item.Kind == rewrite.ItemResult && p.taken(e.item):
		case e.item.Kind == rewrite.ItemResult:
			e.orphan, said = true, true
			l.add(rewrite.RoleUser, e)
		case side(e.item) == rewrite.RoleUser:
			l.add(rewrite.RoleUser, e)
			said = true
		}
	}
	last := len(l.messages) - 1
	said = said || last >= 0 && l.messages[last].role == rewrite.RoleUser
	for _, e := range turn {
		if side(e.item) != rewrite.RoleSystem {
			continue
		}
		if said {
			l.add(rewrite.RoleSystem, e)
			continue
		}
		l.add(rewrite.RoleUser, e)
		l.messages[len(l.messages)-1].told = true
	}
}

// results adds the results of calls.
func (l *layout) results(results []entry) {
	for _, e := range results {
		l.add(rewrite.RoleUser, e)
	}
}

// add adds an entry to the last message, or begins another. A system message
// that the client has written as a whole stands for itself.
func (l *layout) add(role rewrite.Role, e entry) {
	last := len(l.messages) - 1
	if last < 0 || l.messages[last].role != role || wholeSystem(e.item) || wholeSystem(l.messages[last].entries[0].item) {
		l.messages = append(l.messages, laid{role: role})
		last++
	}
	l.messages[last].entries = append(l.messages[last].entries, e)
}

// wholeSystem reports an item whose payload is a whole message.
func wholeSystem(item *rewrite.Item) bool {
	return item.Kind == rewrite.ItemMessage && (item.Payload.Format == format(systemMessage) || item.Payload.Format == format(turnScoped))
}

// pairs finds the results of calls, wherever they stand: here they have to come
// right after.
type pairs struct {
	results map[string]entry
	used    map[*rewrite.Item]bool
	due     []entry
}

func pairing(entries []entry) *pairs {
	p := &pairs{results: map[string]entry{}, used: map[*rewrite.Item]bool{}}
	for _, e := range entries {
		if _, twice := p.results[e.item.Call.ID]; e.item.Kind == rewrite.ItemResult && !twice {
			p.results[e.item.Call.ID] = e
		}
	}
	return p
}

// call notes the call that an entry is, if it is one.
func (p *pairs) call(e entry) {
	if e.item.Kind == rewrite.ItemCall {
		p.due = append(p.due, e)
	}
}

// take gives the results of the calls since the last time, in their order.
func (p *pairs) take() (results []entry) {
	for _, call := range p.due {
		result, ok := p.results[call.item.Call.ID]
		if !ok || p.used[result.item] {
			result = entry{path: call.path, item: call.item, missing: true}
		}
		p.used[result.item] = true
		results = append(results, result)
	}
	p.due = nil
	return results
}

func (p *pairs) taken(item *rewrite.Item) bool { return p.used[item] }
