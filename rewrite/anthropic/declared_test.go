package anthropic_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/legal"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

// declarer is a client that says itself what it changes, at random.
type declarer struct {
	rng       *rand.Rand
	catalogue []string
	offered   []string
	messages  []string
	changes   []continuity.Change
}

func newDeclarer(seed uint64) *declarer {
	d := &declarer{rng: rand.New(rand.NewPCG(seed, 5)), messages: []string{hi}}
	for i := range 1 + d.rng.IntN(6) {
		name := fmt.Sprintf("tool%d", i)
		if d.catalogue = append(d.catalogue, name); d.rng.IntN(2) == 0 {
			d.offered = append(d.offered, name)
		}
	}
	return d
}

// goOn adds a reply and the words or results behind it.
func (d *declarer) goOn() {
	id := fmt.Sprint("t", len(d.messages))
	switch d.rng.IntN(5) {
	case 0:
		d.messages = append(d.messages, `{"role":"assistant","content":[{"type":"tool_use","id":"`+id+`","name":"tool0","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"r"}]}`)
	case 1:
		d.messages = append(d.messages, `{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_`+id+`","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_`+id+`","content":[]}]}`, ok, hi)
	default:
		d.messages = append(d.messages, ok, bye)
	}
	if d.rng.IntN(5) == 0 {
		d.messages = append(d.messages, `{"role":"system","content":"The client's own."}`)
	}
}

// change declares something, at times in a place that has long been sent.
func (d *declarer) change() {
	c := continuity.Change{At: d.rng.IntN(len(d.messages) + 1)}
	for range 1 + d.rng.IntN(3) {
		name := d.catalogue[d.rng.IntN(len(d.catalogue))]
		switch d.rng.IntN(4) {
		case 0:
			c.Texts = append(c.Texts, fmt.Sprint("Rule ", d.rng.IntN(9)))
		case 1:
			c.Remove = append(c.Remove, name)
		case 2:
			c.Add = append(c.Add, name)
		case 3:
			c.Remove = append(c.Remove, "nobody")
		}
	}
	d.changes = append(d.changes, c)
	slices.SortStableFunc(d.changes, func(a, b continuity.Change) int { return a.At - b.At })
}

func (d *declarer) tool(name string) string {
	return `{"name":"` + name + `","input_schema":{"type":"object"}}`
}

// request is the declared request and the body that its layout comes to.
func (d *declarer) request(t *testing.T, able continuity.Abilities, before continuity.Places) (body string, places continuity.Places) {
	t.Helper()
	var tools []string
	for _, name := range d.catalogue {
		tools = append(tools, d.tool(name))
	}
	own := request(strings.Join(tools, ","), `"Be kind."`, d.messages...)
	f := facts(t, own)
	layout, err := continuity.Declare(&continuity.Declared{Catalogue: f.Tools, Offered: d.offered, Changes: d.changes, Messages: f.Messages}, able, before)
	if err != nil {
		t.Fatal(err)
	}
	edits := anthropic.Edits{Tools: [][]byte{}}
	for _, e := range layout.Tools {
		tool := []byte(tools[e.Index])
		if e.Deferred {
			tool = anthropic.AsDeferred(tool)
		}
		edits.Tools = append(edits.Tools, tool)
	}
	for _, said := range layout.Said {
		message := anthropic.Render(anthropic.Directive{Texts: said.Texts, Remove: said.Remove, Add: said.Add})
		edits.Inserts = append(edits.Inserts, continuity.Edit{After: said.After, Bytes: message})
	}
	return apply(t, own, edits), layout.Places
}

// offers are the tools that a body offers at its end, read from it alone.
func offers(body string) []string {
	is := map[string]bool{}
	for _, tool := range gjson.Get(body, "tools").Array() {
		is[tool.Get("name").String()] = !tool.Get("defer_loading").Bool()
	}
	for _, m := range gjson.Get(body, "messages").Array() {
		for _, b := range m.Get("content").Array() {
			switch name := b.Get("tool.name").String(); b.Get("type").String() {
			case "tool_addition":
				is[name] = true
			case "tool_removal":
				is[name] = false
			}
		}
	}
	return sorted(is)
}

func (d *declarer) wants() []string {
	is := map[string]bool{}
	for _, name := range d.offered {
		is[name] = true
	}
	for _, c := range d.changes {
		for _, name := range c.Remove {
			is[name] = false
		}
		for _, name := range c.Add {
			is[name] = true
		}
	}
	return sorted(is)
}

func sorted(is map[string]bool) (names []string) {
	for name, yes := range is {
		if yes {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestDeclaredSessions plays random sessions of clients that say what they
// change: each request is legal, begins with the one before it and offers what
// the client wants.
func TestDeclaredSessions(t *testing.T) {
	betas := []string{"inline-tools-2026-09-15"}
	abilities := []continuity.Abilities{{Text: true, Reference: true}, {Text: true}, {}}
	for seed := range uint64(1000) {
		d, able := newDeclarer(seed), abilities[seed%3]
		var before string
		var places continuity.Places
		for turn := range 8 {
			if turn > 0 {
				d.goOn()
			}
			for range d.rng.IntN(3) {
				d.change()
			}
			body, next := d.request(t, able, places)
			again, _ := d.request(t, able, places)
			if body != again {
				t.Fatalf("seed %d, turn %d: two layouts of one request:\n%s\n%s", seed, turn, body, again)
			}
			for _, v := range legal.Check([]byte(body), betas, "") {
				t.Fatalf("seed %d, turn %d: illegal: %s\n%s", seed, turn, v, body)
			}
			if diff := cmp.Diff(d.wants(), offers(body)); diff != "" {
				t.Fatalf("seed %d, turn %d: offered (-want +got):\n%s\n%s", seed, turn, diff, body)
			}
			if able.Text && before != "" {
				old, now := gjson.Get(before, "messages").Raw, gjson.Get(body, "messages").Raw
				if !strings.HasPrefix(now, strings.TrimSuffix(old, "]")) {
					t.Fatalf("seed %d, turn %d: the history changes from\n%s\nto\n%s", seed, turn, old, now)
				}
			}
			if old, now := gjson.Get(before, "tools").Raw, gjson.Get(body, "tools").Raw; able.Reference && before != "" && now != old {
				t.Fatalf("seed %d, turn %d: the tools change from\n%s\nto\n%s", seed, turn, old, now)
			}
			before, places = body, next
		}
	}
}
