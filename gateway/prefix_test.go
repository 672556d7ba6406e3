package gateway_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

var prefixSessions = flag.Int("prefixes", 2, "random conversations for each pair of dialects")

// less is an object less some of its members.
func less(raw string, names ...string) string {
	object := gjson.Parse(raw)
	if !object.IsObject() {
		return raw
	}
	var out []string
	object.ForEach(func(name, value gjson.Result) bool {
		if !slices.Contains(names, name.Str) {
			out = append(out, name.Raw+":"+value.Raw)
		}
		return true
	})
	return "{" + strings.Join(out, ",") + "}"
}

// unmarked is a JSON value without what takes no part in a prefix.
func unmarked(raw string) string { return less(raw, "cache_control") }

// atoms are the pieces of a prompt in the order in which a provider reads them, up
// to the end of the conversation.
func atoms(body string) (out []string) {
	root := gjson.Parse(body)
	list := func(kind, path string) {
		at := root.Get(path)
		if at.Type == gjson.String {
			out = append(out, kind+" "+at.Raw)
			return
		}
		for _, v := range at.Array() {
			if !v.Get("cachePoint").Exists() && !v.Get("defer_loading").Bool() {
				out = append(out, kind+" "+unmarked(v.Raw))
			}
		}
	}
	for _, path := range []string{"tools", "toolConfig.tools", "system", "instructions", "systemInstruction.parts"} {
		list(path, path)
	}
	for _, path := range []string{"messages", "input", "contents"} {
		for _, m := range root.Get(path).Array() {
			at := m.Get("content")
			if !at.Exists() {
				at = m.Get("parts")
			}
			rest := less(m.Raw, "cache_control", "content", "parts")
			if m.Get("type").Str == "reasoning" {
				at, rest = gjson.Result{}, m.Raw
			}
			switch {
			case at.IsArray():
				for i, v := range at.Array() {
					if v.Get("cachePoint").Exists() {
						continue
					}
					who := m.Get("role").Str
					if i == 0 && m.Get("type").Exists() {
						who = rest
					}
					out = append(out, who+" "+unmarked(v.Raw))
				}
				if calls := m.Get("tool_calls"); calls.Exists() {
					out = append(out, calls.Raw)
				}
			default:
				out = append(out, rest+" "+at.Raw)
			}
		}
	}
	return out
}

// talker is a client that goes on at random.
type talker struct {
	*rand.Rand
	from, to rewrite.Dialect
	c        *rewrite.Conversation
	turn     int
	// forgets says that the client brings no reasoning back, and searches that the
	// provider may search.
	forgets, searches bool
}

func (a *talker) words() string {
	return []string{"Go on.", "Zürich \U0001F642 é", "a \"quoted\" <b>&amp;</b> \\n line\nnext\ttab", "e\u0301 \u2028 \u200b", strings.Repeat("long ", 50), "1e400 -0 0.10"}[a.IntN(6)]
}

func (a *talker) picture() rewrite.Part {
	return rewrite.Part{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: picture}}
}

// script is what the model does next.
func (a *talker) script() string {
	var steps []string
	if a.IntN(2) == 0 {
		steps = append(steps, fmt.Sprintf("think %d", 10+a.IntN(30)))
	}
	if a.IntN(3) > 0 {
		steps = append(steps, "say "+[]string{"Well then.", "Zürich é.", "So \U0001F642 it is."}[a.IntN(3)])
	}
	if a.searches && a.IntN(2) == 0 {
		return strings.Join(append(steps, "search blue cats"), "; ")
	}
	if len(a.c.Tools) > 0 && !a.searches {
		for range a.IntN(3) {
			steps = append(steps, []string{
				`call clock {"zone":"CET"}`, `call clock {}`, `call clock {"zone":"é\"\n\\u00e9","n":1.50,"b":1e2, "a":[null,{}]}`,
			}[a.IntN(3)])
		}
	}
	if len(steps) == 0 {
		steps = append(steps, "say Yes.")
	}
	return strings.Join(steps, "; ")
}

// goesOn appends a reply, results of its calls, and what the user says next.
func (a *talker) goesOn(items []rewrite.Item) {
	c := a.c
	for i := range items {
		if !a.forgets || items[i].Kind != rewrite.ItemReasoning {
			c.Items = append(c.Items, items[i])
		}
	}
	// Nothing but a call proves whose history it is, where reasoning does not come back.
	proven := slices.ContainsFunc(c.Items, func(i rewrite.Item) bool { return i.Kind == rewrite.ItemCall })
	if proven && c.Model == models[rewrite.Messages] && len(c.Tools) > 0 && a.IntN(6) == 0 && !a.searches {
		c.Tools = append(c.Tools, rewrite.Tool{Name: fmt.Sprintf("more_%d", len(c.Tools)), Description: "More.", Schema: rewrite.JSON(`{"type":"object"}`)})
	}
	called := false
	for i := range items {
		call := items[i].Call
		if p := &items[i].Payload; items[i].Kind == rewrite.ItemOpaque && gjson.GetBytes(p.Value, "type").Str == "function_call" {
			call = rewrite.Call{ID: gjson.GetBytes(p.Value, "call_id").Str, Name: gjson.GetBytes(p.Value, "name").Str}
		} else if items[i].Kind != rewrite.ItemCall {
			continue
		}
		called = true
		result := rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name, Namespace: call.Namespace, Custom: call.Custom}}
		for range a.IntN(3) {
			result.Parts = append(result.Parts, rewrite.Part{Text: a.words()})
		}
		if a.IntN(4) == 0 && a.from != rewrite.Completions {
			result.Parts = append(result.Parts, a.picture())
		}
		result.Failed = a.IntN(5) == 0
		c.Items = append(c.Items, result)
	}
	if called && a.IntN(2) == 0 {
		return
	}
	a.speaks()
}

// speaks appends what the user says.
func (a *talker) speaks() {
	c := a.c
	a.turn++
	said := rewrite.Item{Parts: []rewrite.Part{{Text: fmt.Sprintf("%d %s DO[%s]", a.turn, a.words(), a.script())}}}
	switch a.IntN(5) {
	case 0:
		said.Parts = append(said.Parts, a.picture())
	case 1:
		said.Parts = append(said.Parts, rewrite.Part{Text: a.words()})
	}
	c.Items = append(c.Items, said)
	if a.IntN(4) == 0 && a.from != rewrite.Gemini {
		c.Items = append(c.Items, rewrite.Item{Role: rewrite.RoleSystem, Parts: []rewrite.Part{{Text: "Rule " + a.words()}}})
	}
}

var otherModels = map[rewrite.Dialect][]string{
	rewrite.Messages: {"claude/claude-opus-4-6", "claude/claude-opus-4-5", "claude/claude-opus-5"},
	rewrite.Gemini:   {"google/gemini-2.5-pro", "google/gemini-3-flash-preview"},
	rewrite.Converse: {"bedrock/eu.anthropic.claude-opus-4-6-v1:0", "bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0"},
}

// What has been sent of a conversation is sent again as it was with every later
// turn, whatever dialects meet: a provider finds its prefix in its cache.
func TestPrefixesGrow(t *testing.T) {
	core, base := everyProvider(t, nil)
	for from, client := range speakers {
		for to, model := range models {
			for n := range *prefixSessions {
				t.Run(fmt.Sprintf("%s to %s %d", from, to, n), func(t *testing.T) {
					a := &talker{Rand: rand.New(rand.NewPCG(uint64(n), uint64(from)*16+uint64(to))), from: from, to: to}
					model := model
					if others := otherModels[to]; from != to && len(others) > 0 && a.IntN(2) == 0 {
						model = others[a.IntN(len(others))]
					}
					a.c = &rewrite.Conversation{Dialect: from, Model: model, Stream: n%2 == 1, System: []rewrite.Part{{Text: fmt.Sprintf("You are careful, %d.", n)}}}
					a.forgets = a.IntN(3) == 0
					switch a.IntN(4) {
					case 0, 1:
						offers(a.c)
					case 2:
						if to != rewrite.Completions && to != rewrite.Converse && from != rewrite.Completions {
							a.c.Items = []rewrite.Item{{Parts: []rewrite.Part{{}}}}
							searches(a.c, from)
							a.searches, a.c.Items = true, nil
						}
					}
					if a.IntN(2) == 0 && to != rewrite.Completions {
						a.c.Thinking = rewrite.Thinking{Effort: "high"}
					}
					if from == rewrite.Completions && a.c.Stream {
						a.c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
					}
					a.speaks()
					var before []string
					for turn := range 8 {
						reply, header := client.ask(t, base, a.c)
						sent := lastRecord(core).Body
						now := atoms(sent)
						for i := range before {
							if i >= len(now) || now[i] != before[i] {
								got := "nothing"
								if i < len(now) {
									got = now[i]
								}
								t.Fatalf("turn %d, piece %d of %d was\n%s\nand is\n%s\n%s", turn, i, len(before), before[i], got, header.Get("Warmpath-Losses"))
							}
						}
						before = now
						client.ask(t, base, a.c)
						if again := lastRecord(core).Body; again != sent {
							t.Fatalf("turn %d: the same request gives\n%s\nand\n%s", turn, sent, again)
						}
						a.goesOn(reply.Items)
					}
				})
			}
		}
	}
}
