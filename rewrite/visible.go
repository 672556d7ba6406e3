package rewrite

import (
	"crypto/sha256"
	"hash"
	"slices"
	"strings"
	"unicode"
)

// Fingerprint stands for what was said, in whatever spelling.
type Fingerprint [16]byte

// Run is what the model's side says in a row: a reply, as its client has got it and
// sends it again.
type Run struct {
	// From and To are its items, half-open. They are equal for a reply that is still
	// to come.
	From, To int
	// Reply is what it says. Empty ones say nothing that could be known again.
	Reply Glimpse
	// Turn is what the other side has said since the run before, and History all that
	// stands before the reply.
	Turn, History Fingerprint
}

// Glimpse is what of a reply survives when its client takes it apart and puts it
// together again: its words without white space, and which tools it has called, in
// order. Reasoning does not; and items may come back in another order. The zero
// Glimpse is ready for a reply.
type Glimpse struct {
	// ByName tells calls apart by the names of their tools, for clients that give
	// calls no identifiers.
	ByName bool
	texts  [][]byte // by item
	from   int      // the first of the reply that is added
	calls  []string
	spoke  bool
}

// Onward is a glimpse of a reply that goes on from what there is of it.
func (g *Glimpse) Onward() Glimpse {
	onward := *g
	onward.texts, onward.calls, onward.from = slices.Clip(g.texts), slices.Clip(g.calls), len(g.texts)
	return onward
}

// Add takes the next event of a reply as the client gets it.
func (g *Glimpse) Add(e *Event) {
	switch e.Kind {
	case EventItem:
		at := g.from + e.Index
		for len(g.texts) <= at {
			g.texts = append(g.texts, nil)
		}
		if e.Item.Kind == ItemCall {
			g.call(&e.Item.Call)
		} else if e.Item.Kind == ItemMessage {
			g.texts[at] = []byte{}
		}
	case EventText:
		if at := g.from + e.Index; e.Index >= 0 && at < len(g.texts) && g.texts[at] != nil {
			g.texts[at] = appendWords(g.texts[at], string(e.Text))
			g.spoke = g.spoke || len(g.texts[at]) > 0
		}
	case EventBegin, EventPart, EventArguments, EventAttribution, EventPartDone, EventDone, EventUsage, EventEnd, EventError:
	}
}

// item takes an item of a reply that a client sends again.
func (g *Glimpse) item(item *Item) {
	switch item.Kind {
	case ItemCall:
		g.call(&item.Call)
	case ItemMessage:
		var text []byte
		for i := range item.Parts {
			text = appendWords(text, item.Parts[i].Text)
		}
		g.texts, g.spoke = append(g.texts, text), g.spoke || len(text) > 0
	case ItemReasoning, ItemResult, ItemHosted, ItemDirective, ItemOpaque:
	}
}

func (g *Glimpse) call(call *Call) {
	name := plainID(call.ID)
	if g.ByName {
		name = call.Name
	}
	g.calls = append(g.calls, name)
}

// Empty reports that nothing of the reply is left.
func (g *Glimpse) Empty() bool { return !g.spoke && len(g.calls) == 0 }

// Calls reports calls that are called like no others.
func (g *Glimpse) Calls() bool { return len(g.calls) > 0 && !g.ByName && !slices.Contains(g.calls, "") }

// Print is the fingerprint of the reply.
func (g *Glimpse) Print() Fingerprint {
	digest := sha256.New()
	for _, text := range g.texts {
		digest.Write(text)
	}
	for _, call := range g.calls {
		digest.Write([]byte{0})
		digest.Write([]byte(call))
	}
	return sum(digest)
}

func sum(digest hash.Hash) Fingerprint { return Fingerprint(digest.Sum(nil)[:16]) }

// appendWords appends a text without its white space.
func appendWords(dst []byte, text string) []byte {
	for {
		at := strings.IndexFunc(text, unicode.IsSpace)
		if at < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		text = strings.TrimLeftFunc(text[at:], unicode.IsSpace)
	}
}

// Runs finds the replies in a conversation, and where the next one comes: that is
// the last run, of no items. There is none if the conversation ends with what the
// model is to go on with.
func (c *Conversation) Runs(byName bool) (runs []Run) {
	history := sha256.New()
	var turn hash.Hash
	for i := 0; ; {
		turn = sha256.New()
		from := i
		for i < len(c.Items) && c.Items[i].Side() != RoleAssistant {
			side(turn, &c.Items[i], byName)
			i++
		}
		if i == from && len(runs) > 0 {
			return runs
		}
		said := sum(turn)
		history.Write(said[:])
		run := Run{From: i, Turn: said, History: sum(history), Reply: Glimpse{ByName: byName}}
		for i < len(c.Items) && c.Items[i].Side() == RoleAssistant {
			run.Reply.item(&c.Items[i])
			i++
		}
		run.To = i
		runs = append(runs, run)
		if run.From == run.To {
			return runs
		}
		print := run.Reply.Print()
		history.Write(print[:])
	}
}

// side adds to a turn what an item of the user's side says. Instructions are no part
// of it: an agent may say them anew each time, or elsewhere.
func side(turn hash.Hash, item *Item, byName bool) {
	switch item.Kind {
	case ItemResult:
		name := plainID(item.Call.ID)
		if byName {
			name = item.Call.Name
		}
		turn.Write([]byte("\x00" + name))
	case ItemMessage:
		if item.Role != RoleUser {
			return
		}
		var text []byte
		for i := range item.Parts {
			text = appendWords(text, item.Parts[i].Text)
		}
		turn.Write(text)
	case ItemReasoning, ItemCall, ItemHosted, ItemDirective, ItemOpaque:
	}
}

// Restored are the items that a run stands for.
type Restored struct {
	Run Run
	// Items are all of the model's, and Results those of calls that the client does
	// not know of and that stand at the end: they belong among the client's own.
	Items, Results []Item
}

// Restore puts items in the place of runs, which are given in their order. In lost
// runs, in which words of others may stand, it leaves out the reasoning that its
// provider would no longer find where it was made. Where that is bound to all that
// stands before it, so is what comes later in lost runs. It says how much it left out.
func (c *Conversation) Restore(found []Restored, lost []Run, bound bool) (left int) {
	for _, run := range lost {
		left += unplaced(c.Items[run.From:run.To], bound, bound && left > 0)
	}
	var items []Item
	from := 0
	for i := range found {
		r := &found[i]
		run := c.Items[r.Run.From:r.Run.To]
		items = append(append(items, c.Items[from:r.Run.From]...), sealed(placed(r.Items, run), run)...)
		from = r.Run.To
		next := from
		for next < len(c.Items) && c.Items[next].Kind == ItemResult {
			next++
		}
		items = append(items, inOrder(r.Items, placed(r.Results, run), c.Items[from:next])...)
		from = next
	}
	items = append(items, c.Items[from:]...)
	if left > 0 {
		items = slices.DeleteFunc(items, func(i Item) bool { return i.Kind == ItemReasoning && i.Incomplete })
	}
	c.Items = items
	return left
}

// placed are items with the path of what they stand for.
func placed(items, run []Item) []Item {
	items = slices.Clone(items)
	for i := range items {
		items[i].Path = run[0].Path
	}
	return items
}

// sealed are items with the last mark of what they stand for, on the last that can
// carry one. Nothing is marked that was not, so marks stay within their number, and
// the order of their lifetimes is the client's.
func sealed(items, run []Item) []Item {
	var mark Mark
	for i := range run {
		for j := range run[i].Parts {
			if part := &run[i].Parts[j]; part.Mark.Set {
				mark = part.Mark
			}
		}
		if run[i].Mark.Set {
			mark = run[i].Mark
		}
	}
	if !mark.Set {
		return items
	}
	for i := range slices.Backward(items) {
		item := &items[i]
		switch {
		case !item.Payload.Empty(): // it goes out as its provider has made it
		case item.Kind == ItemCall:
			item.Mark = mark
			return items
		case item.Kind == ItemMessage:
			for j := range slices.Backward(item.Parts) {
				if part := &item.Parts[j]; part.Payload.Empty() && strings.TrimSpace(part.Text) != "" {
					item.Parts = slices.Clone(item.Parts)
					item.Parts[j].Mark = mark
					return items
				}
			}
		}
	}
	return items
}

// inOrder puts results of the gateway's own among those of the client, in the order
// of their calls. The client's stay in their order.
func inOrder(calls, own, client []Item) []Item {
	place := func(id string) int {
		return slices.IndexFunc(calls, func(i Item) bool { return i.Kind == ItemCall && i.Call.ID == id })
	}
	results := make([]Item, 0, len(own)+len(client))
	for _, result := range client {
		at := place(result.Call.ID)
		for at >= 0 && len(own) > 0 && place(own[0].Call.ID) < at {
			results, own = append(results, own[0]), own[1:]
		}
		results = append(results, result)
	}
	return append(results, own...)
}

// Misplaced reports whether reasoning of a reply would be left out if the reply were
// lost.
func Misplaced(reply []Item, bound bool) bool {
	return unplaced(slices.Clone(reply), bound, false) > 0
}

// unplaced marks reasoning that is to be left out: what comes behind a text, or, where
// it is bound to what stands before, behind other reasoning, for a client may have
// moved both to the front. Said counts a text as said before.
func unplaced(run []Item, bound, said bool) (left int) {
	all := said
	for i := range run {
		switch item := &run[i]; item.Kind {
		case ItemMessage:
			said = true
		case ItemHosted:
			said = all
		case ItemReasoning:
			if said {
				*item = Item{Kind: ItemReasoning, Incomplete: true}
				left++
			}
			said = said || bound
		case ItemCall, ItemResult, ItemDirective, ItemOpaque:
		}
	}
	return left
}
