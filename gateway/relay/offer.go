package relay

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"warmpath/cache/ledger"
	"warmpath/gateway/catalog"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

// toolSet is what the route of the request runs of tools; nil for nothing.
func (x *exchange) toolSet() *tools.Set {
	if x.settings.Tools == nil || !x.translatable() {
		return nil
	}
	route := x.settings.Catalog.Route(x.facts.Model)
	if !route.Tools() || x.keptElsewhere() || x.beyond() {
		return nil
	}
	set := x.settings.Tools(x.ctx, route)
	if set == nil || x.aside != nil && !x.aside.restored || x.dislikes(set) {
		return nil
	}
	return set
}

// offering is what the gateway adds to the conversation of a request.
type offering struct {
	set *tools.Set
	// tools are those that the model is offered beside the client's.
	tools []rewrite.Tool
	// own is how many tools the client has, and clients are the names of those that look
	// like tools of the gateway's.
	own     int
	clients map[string]bool
	// run is where the reply will be found again; nil where it will not.
	run *rewrite.Run
	// altered says that something of the history was left out.
	altered bool
	// base is how many items the conversation has before the reply, of which the client
	// may have sent the beginning.
	base int
}

// offer restores what the client does not know of its conversation, and offers the
// model the tools of the route. Nil does neither.
func (x *exchange) offer(c *rewrite.Conversation) *offering {
	if x.set == nil {
		return nil
	}
	opening := !slices.ContainsFunc(c.Items, func(i rewrite.Item) bool { return i.Side() == rewrite.RoleAssistant })
	restored, run, begun, altered := x.restore(c)
	o := &offering{set: x.set, own: len(c.Tools), run: run, altered: altered}
	if x.aside == nil && (len(restored) > 0 || x.offers(c)) {
		for _, tool := range x.lists(opening) {
			o.add(c, tool)
		}
	}
	if x.crowded(len(c.Tools), len(o.tools)) {
		o.tools = nil
	}
	for i := range restored {
		// What stands in the history has to be declared, but for what a model has made
		// up: it is to call that no more.
		if x.set.Owns(restored[i].Call.Name) && !x.set.Has(restored[i].Call.Name) {
			continue
		}
		if item := &restored[i]; item.Kind == rewrite.ItemCall && item.Call.Namespace == "" && !x.crowded(len(c.Tools), len(o.tools)+1) {
			o.add(c, rewrite.Tool{Name: item.Call.Name, Schema: rewrite.JSON(`{"type":"object"}`)})
		}
	}
	o.clients = x.lookalikes(c)
	c.Tools = append(slices.Clip(c.Tools), o.tools...)
	o.base = len(c.Items) - begun
	x.offered, x.restored = len(o.tools) > 0, len(restored) > 0
	return o
}

// lookalikes are tools of the client's, as the provider calls them, that have names like
// the gateway's.
func (x *exchange) lookalikes(c *rewrite.Conversation) (names map[string]bool) {
	add := func(namespace, name string) {
		all := []string{name, namespace + name, namespace + "__" + name}
		if there := codecs[x.target.Dialect].toolName; there != nil {
			all = append(all, there(namespace, name))
		}
		for _, name := range all {
			if x.set.Owns(name) {
				if names == nil {
					names = map[string]bool{}
				}
				names[name] = true
			}
		}
	}
	for i := range c.Tools {
		add(c.Tools[i].Namespace, c.Tools[i].Name)
	}
	for name := range c.Offered() {
		add("", name)
	}
	return names
}

// add offers a tool, unless there is one of its name: the client's wins.
func (o *offering) add(c *rewrite.Conversation, tool rewrite.Tool) {
	named := func(t rewrite.Tool) bool { return t.Name == tool.Name }
	if !slices.ContainsFunc(c.Tools, named) && !slices.ContainsFunc(o.tools, named) {
		o.tools = append(o.tools, tool)
	}
}

// mostFunctions is how many tools OpenAI takes in a request.
const mostFunctions = 128

// crowded reports that a provider would refuse a request for tools of the gateway's,
// since it takes no more than the client has.
func (x *exchange) crowded(own, offered int) bool {
	return (x.target.Dialect == rewrite.Completions || x.target.Dialect == rewrite.Responses) && own+offered > mostFunctions
}

// offers reports whether the model is to be offered tools of the gateway's. A reply
// of a given form has none, and some models take none beside tools of their provider.
func (x *exchange) offers(c *rewrite.Conversation) bool {
	if c.Format.Kind != "" && c.Format.Kind != "text" {
		return false
	}
	hosted := slices.ContainsFunc(c.Tools, func(t rewrite.Tool) bool { return t.Kind == rewrite.ToolHosted })
	return !hosted || !slices.Contains(catalog.Limits(x.target.Dialect, x.target.Model).Refused, "mixed")
}

// hide begins to hide the calls of what was offered; nil where nothing was.
func (o *offering) hide(x *exchange, t *translation) *hidden {
	if o == nil || len(o.tools) == 0 {
		return nil
	}
	h := &hidden{x: x, set: o.set, people: newPeople(x.relay.now), names: map[string]string{}, clients: o.clients, run: o.run, base: o.base, altered: o.altered}
	for i := range o.tools {
		name := o.tools[i].Name
		there := name
		if t.vendor.toolName != nil {
			there = t.vendor.toolName("", name)
		}
		h.names[there] = name
	}
	if h.seen.ByName = x.byName(); o.run != nil {
		h.seen = o.run.Reply.Onward()
	}
	return h
}

// unlisted leaves out losses that are about tools of the gateway's: the client knows
// none of them.
func (o *offering) unlisted(losses *rewrite.Losses) {
	if o == nil {
		return
	}
	losses.All = slices.DeleteFunc(losses.All, func(l rewrite.Loss) bool {
		rest, ok := strings.CutPrefix(l.Path, "tools.")
		number, _, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		return ok && err == nil && n >= o.own
	})
}

// byName reports a client that gives calls no identifiers that last.
func (x *exchange) byName() bool { return x.req.Dialect == rewrite.Gemini }

// keptElsewhere reports a request whose conversation its provider keeps, so that
// nothing of it can be hidden from who goes on from there.
func (x *exchange) keptElsewhere() bool {
	if x.translates() {
		return false
	}
	switch x.req.Dialect {
	case rewrite.Messages:
		return gjson.GetBytes(x.asked, "thread").IsObject()
	case rewrite.Responses:
		names := responses.ReadNames(x.asked)
		return names.Conversation || names.Previous != "" && !responses.Own(names.Previous) ||
			names.Keep && x.settings.Replies == nil || gjson.GetBytes(x.asked, "background").Bool()
	}
	return false
}

// restore puts into a conversation what its client was not told, and gives the items
// that it has restored. Run is where the next reply will be found again, nil if it will
// not, and begun how many items of it there are: a client may have it gone on with. Altered
// says that reasoning was left out of what was lost.
func (x *exchange) restore(c *rewrite.Conversation) (restored []rewrite.Item, run *rewrite.Run, begun int, altered bool) {
	runs := c.Runs(x.byName())
	if len(runs) == 0 {
		return nil, nil, 0, false
	}
	last := runs[len(runs)-1]
	if run, begun = &last, last.To-last.From; begun == 0 {
		runs = runs[:len(runs)-1]
	}
	if x.settings.Ledger == nil || len(runs) == 0 || x.aside != nil {
		return nil, run, begun, c.Restore(nil, runs, x.binds()) > 0
	}
	entries, err := x.settings.Ledger.Find(x.ctx, x.req.tenant(), runs)
	if err != nil {
		x.relay.metrics.Ledger("unread")
	}
	var found []rewrite.Restored
	var lost []rewrite.Run
	for i, entry := range entries {
		if entry == nil {
			x.relay.metrics.Ledger("absent")
			lost = append(lost, runs[i])
			continue
		}
		x.relay.metrics.Ledger("found")
		found = append(found, rewrite.Restored{Run: runs[i], Items: entry.Items, Results: entry.Results})
		restored = append(restored, entry.Items...)
		if runs[i].From == last.From {
			begun = len(entry.Items) + len(entry.Results)
		}
	}
	return restored, run, begun, c.Restore(found, lost, x.binds()) > 0
}

// binds reports a provider that binds reasoning to what stands before it.
func (x *exchange) binds() bool {
	return x.target.Dialect == rewrite.Messages || x.target.Dialect == rewrite.Converse
}

// keepLedger keeps what the client was not told of a reply.
func (x *exchange) keepLedger(run *rewrite.Run, entry *ledger.Entry) {
	if x.settings.Ledger == nil || run.Reply.Empty() {
		return
	}
	if err := x.settings.Ledger.Save(x.ctx, x.req.tenant(), run, entry); err != nil {
		x.relay.metrics.Ledger("unsaved")
		return
	}
	x.relay.metrics.Ledger("saved")
}
