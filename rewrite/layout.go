package rewrite

import (
	"strconv"
	"strings"
)

// Entry is an item with the path that losses name it by.
type Entry struct {
	Path string
	Item *Item
	// Missing says that the item is a call whose result nobody gave, and that the
	// entry stands for it. Orphan says that a result's call is nowhere.
	Missing, Orphan bool
}

// Turn is what one side says in a row.
type Turn struct {
	Role    Role
	Entries []Entry
	// Told says that an instruction has no place of its own here and is told to
	// the user's side.
	Told bool
}

// Side is whose turn an item stands in.
func (i *Item) Side() Role {
	switch i.Kind {
	case ItemReasoning, ItemCall, ItemHosted:
		return RoleAssistant
	case ItemResult:
		return RoleUser
	case ItemDirective:
		return RoleSystem
	case ItemMessage, ItemOpaque:
	}
	return i.Role
}

// Entries are the items of a conversation with their paths.
func (c *Conversation) Entries() []Entry {
	// All paths are one string.
	paths, ends := make([]byte, 0, 10*len(c.Items)), make([]int, len(c.Items))
	for i := range c.Items {
		paths = strconv.AppendInt(append(paths, "items."...), int64(i), 10)
		ends[i] = len(paths)
	}
	all, from := string(paths), 0
	entries := make([]Entry, len(c.Items))
	for i, end := range ends {
		entries[i] = Entry{Path: all[from:end], Item: &c.Items[i]}
		from = end
	}
	return entries
}

// LayOut packs the items of a conversation into turns, for a dialect that is
// strict about their order. Others put instructions and results elsewhere; they
// are moved so that a turn that was written once is written so again. What opens
// the conversation is given apart, as it joins the standing instruction. Results
// come first in the user's turn, in the order of their calls, and instructions
// come last. An instruction between two turns of the model becomes one of the
// user, and a conversation that the model opens gets an opening.
func (c *Conversation) LayOut() (opening []Entry, turns []Turn) {
	entries := c.Entries()
	for len(entries) > 0 && entries[0].Item.Kind == ItemMessage && entries[0].Item.Role == RoleSystem {
		opening, entries = append(opening, entries[0]), entries[1:]
	}
	l := layout{pairs: pairing(entries), entries: make([]Entry, 0, len(entries))}
	for len(entries) > 0 {
		model := entries[0].Item.Side() == RoleAssistant
		n := 0
		for n < len(entries) && (entries[n].Item.Side() == RoleAssistant) == model {
			n++
		}
		turn := entries[:n]
		entries = entries[n:]
		if !model {
			l.userTurn(turn)
			continue
		}
		for _, e := range turn {
			l.add(RoleAssistant, e)
			l.pairs.call(e)
		}
		if len(entries) == 0 {
			l.results()
		}
	}
	if len(l.turns) > 0 && l.turns[0].Role == RoleAssistant {
		begin := Entry{Item: &Item{Kind: ItemMessage, Parts: []Part{{Text: "(The conversation begins.)"}}}}
		l.turns = append([]Turn{{Role: RoleUser, Entries: []Entry{begin}}}, l.turns...)
	}
	return opening, l.turns
}

// layout is the turns so far.
type layout struct {
	turns []Turn
	pairs *pairs
	// entries are those of all turns, one after the other, and from is the first
	// of the last turn's.
	entries []Entry
	from    int
}

// userTurn lays out what stands between two turns of the model.
func (l *layout) userTurn(turn []Entry) {
	l.results()
	said := false
	for _, e := range turn {
		switch {
		case e.Item.Kind == ItemResult && l.pairs.used[e.Item]:
		case e.Item.Kind == ItemResult:
			e.Orphan, said = true, true
			l.pairs.used[e.Item] = true // also where its call comes later
			l.add(RoleUser, e)
		case e.Item.Side() == RoleUser:
			l.add(RoleUser, e)
			said = true
		}
	}
	last := len(l.turns) - 1
	said = said || last >= 0 && l.turns[last].Role == RoleUser
	for _, e := range turn {
		if e.Item.Side() != RoleSystem {
			continue
		}
		if said {
			l.add(RoleSystem, e)
			continue
		}
		l.add(RoleUser, e)
		l.turns[len(l.turns)-1].Told = true
	}
}

// results adds the results of calls.
func (l *layout) results() {
	for _, e := range l.pairs.take() {
		l.add(RoleUser, e)
	}
}

// add adds an entry to the last turn, or begins another.
func (l *layout) add(role Role, e Entry) {
	last := len(l.turns) - 1
	if last < 0 || l.turns[last].Role != role {
		l.turns = append(l.turns, Turn{Role: role})
		last, l.from = last+1, len(l.entries)
	}
	l.entries = append(l.entries, e)
	l.turns[last].Entries = l.entries[l.from:len(l.entries):len(l.entries)]
}

// pairs finds the results of calls, wherever they stand: here they have to come
// right after.
type pairs struct {
	results map[string]Entry
	used    map[*Item]bool
	due     []Entry
}

func pairing(entries []Entry) *pairs {
	p := &pairs{results: make(map[string]Entry, len(entries)/2), used: make(map[*Item]bool, len(entries)/2)}
	for _, e := range entries {
		if _, twice := p.results[e.Item.Call.ID]; e.Item.Kind == ItemResult && !twice {
			p.results[e.Item.Call.ID] = e
		}
	}
	return p
}

// call notes the call that an entry is, if it is one.
func (p *pairs) call(e Entry) {
	if e.Item.Kind == ItemCall {
		p.due = append(p.due, e)
	}
}

// take gives the results of the calls since the last time, in their order.
func (p *pairs) take() (results []Entry) {
	for _, call := range p.due {
		result, ok := p.results[call.Item.Call.ID]
		if !ok || p.used[result.Item] {
			result = Entry{Path: call.Path, Item: call.Item, Missing: true}
		}
		p.used[result.Item] = true
		results = append(results, result)
	}
	p.due = nil
	return results
}

// Reminder is an instruction as a text of the user's that says what it is, for
// models that take none in mid-conversation.
func Reminder(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>" }

// TellInstructions turns the instructions that were given in mid-conversation
// into texts of the user's, for a model that does not take them where they stand.
// The items of c are changed; those that open it stay as they are, since they
// join the standing instruction.
func (c *Conversation) TellInstructions(losses *Losses) {
	opening := true
	for i := range c.Items {
		item := &c.Items[i]
		system := item.Kind == ItemMessage && item.Role == RoleSystem
		if opening = opening && system; opening || !system || len(item.Parts) == 0 {
			continue
		}
		var texts []string
		for j := range item.Parts {
			if text := item.Parts[j].Text; text != "" {
				texts = append(texts, text)
			}
		}
		mark := item.Parts[len(item.Parts)-1].Mark
		*item = Item{Kind: ItemMessage, Parts: []Part{{Text: Reminder(strings.Join(texts, "\n")), Mark: mark}}}
		losses.Add("items."+strconv.Itoa(i), "an instruction in mid-conversation: told as the user's")
	}
}
