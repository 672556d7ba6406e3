package relay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

const (
	short = `,"cache_control":{"type":"ephemeral"}`
	long  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func said(role string, blocks ...string) string {
	return `{"role":"` + role + `","content":[` + strings.Join(blocks, ",") + `]}`
}

func words(mark string) string { return `{"type":"text","text":"x"` + mark + `}` }

// turns are a conversation of many messages with one block each, the last one
// with a mark.
func turns(n int, mark string) string {
	var messages []string
	for i := range n {
		role, own := "user", ""
		if i%2 == 1 {
			role = "assistant"
		}
		if i == n-1 {
			own = mark
		}
		messages = append(messages, said(role, words(own)))
	}
	return strings.Join(messages, ",")
}

// planned is a request on its way, planned behind another one.
func planned(t *testing.T, body string, change func(*warmth)) (*warmth, string) {
	t.Helper()
	facts, err := anthropic.ReadFacts([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	w := &warmth{
		body: []byte(body), facts: facts, kept: map[continuity.Hash][]byte{},
		able: continuity.Abilities{Text: true, Reference: true, Define: true, Automatic: true},
		plan: &continuity.Plan{Next: &continuity.State{}},
	}
	change(w)
	sent, err := w.edited()
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(sent) {
		t.Fatalf("no JSON: %s", sent)
	}
	return w, string(sent)
}

// places are where the marks of a request stand: t1 is the second tool, m0 the
// first message, auto the whole.
func places(t *testing.T, body string) (marks []string) {
	t.Helper()
	var request struct {
		Tools, System, Messages []json.RawMessage
		Automatic               json.RawMessage `json:"cache_control"`
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		t.Fatal(err)
	}
	for _, list := range []struct {
		name     string
		elements []json.RawMessage
	}{{"t", request.Tools}, {"s", request.System}, {"m", request.Messages}} {
		for i, element := range list.elements {
			for range strings.Count(string(element), `"cache_control"`) {
				hour := ""
				if strings.Contains(string(element), `"1h"`) {
					hour = "h"
				}
				marks = append(marks, fmt.Sprint(list.name, i, hour))
			}
		}
	}
	if request.Automatic != nil {
		marks = append(marks, "auto")
	}
	return marks
}

func TestMarks(t *testing.T) {
	insert := func(after int) []continuity.Edit {
		return []continuity.Edit{{After: after, Bytes: []byte(`{"role":"system","content":[{"type":"text","text":"new"}]}`)}}
	}
	request := func(messages, more string) string { return `{"messages":[` + messages + `]` + more + `}` }
	tests := map[string]struct {
		body   string
		change func(*warmth)
		want   []string
		wrote  int
	}{
		"the client's own are enough":         {request(turns(5, short), ""), func(*warmth) {}, []string{"m4"}, 5},
		"FB-53 none on what grows":            {request(said("user", words(short))+","+turns(14, ""), ""), func(*warmth) {}, []string{"m0", "auto"}, 15},
		"none at all":                         {request(turns(5, ""), ""), func(*warmth) {}, []string{"auto"}, 5},
		"none at all, but not for long":       {request(turns(3, ""), ""), func(*warmth) {}, nil, 0},
		"none at all, in the first request":   {request(turns(5, ""), ""), func(w *warmth) { w.plan.Epoch = continuity.Fresh }, nil, 0},
		"a translated agent's first request":  {`{"tools":[{"name":"a"}],"messages":[` + turns(1, "") + `]}`, func(w *warmth) { w.translated, w.plan.Epoch = true, continuity.Fresh }, []string{"auto"}, 1},
		"a translated request without tools":  {request(turns(1, ""), ""), func(w *warmth) { w.translated, w.plan.Epoch = true, continuity.Fresh }, nil, 0},
		"where the provider has no automatic": {request(turns(5, ""), ""), func(w *warmth) { w.able.Automatic = false }, nil, 0},
		"FB-56 the client's automatic one":    {request(turns(5, ""), short), func(*warmth) {}, []string{"auto"}, 5},
		"after they were refused":             {request(turns(5, ""), ""), func(w *warmth) { w.unmarked = true }, nil, 0},
		"a directive at the end":              {request(turns(5, short), ""), func(w *warmth) { w.plan.Inserts = insert(5) }, []string{"m4", "m5"}, 5},
		"CB-04 a directive at the end":        {request(turns(5, long), ""), func(w *warmth) { w.plan.Inserts = insert(5) }, []string{"m4h", "m5h"}, 5},
		"a directive before":                  {request(turns(5, short), ""), func(w *warmth) { w.plan.Inserts = insert(3) }, []string{"m5"}, 5},
		"a directive under an automatic one":  {request(turns(5, ""), short), func(w *warmth) { w.plan.Inserts = insert(5) }, []string{"auto"}, 5},
		"CB-01 CB-02 none left": {
			`{"tools":[{"name":"a"` + short + `}],"system":[` + words(short) + `],"messages":[` + said("user", words(short)) + "," + turns(4, short) + `]}`,
			func(w *warmth) { w.plan.Inserts = insert(5) }, []string{"t0", "s0", "m0", "m4"}, 5,
		},
		"too far from what was written":      {request(turns(41, short), ""), func(w *warmth) { w.plan.Wrote = 20 }, []string{"m34", "m40"}, 41},
		"too far, for an hour":               {request(turns(41, long), ""), func(w *warmth) { w.plan.Wrote = 20 }, []string{"m34h", "m40h"}, 41},
		"too far, automatically":             {request(turns(41, ""), long), func(w *warmth) { w.plan.Wrote = 20 }, []string{"m34h", "auto"}, 41},
		"near enough":                        {request(turns(41, short), ""), func(w *warmth) { w.plan.Wrote = 30 }, []string{"m40"}, 41},
		"too far by what stands between":     {request(turns(30, short), ""), func(w *warmth) { w.plan.Wrote, w.plan.Inserts = 20, many(22) }, []string{"m20", "m30"}, 30},
		"nothing was written yet":            {request(turns(41, short), ""), func(*warmth) {}, []string{"m40"}, 41},
		"what was written stays known":       {request(turns(3, ""), ""), func(w *warmth) { w.plan.Wrote = 2 }, nil, 2},
		"no mark on a string or a thought":   {request(strings.Replace(turns(41, short), said("user", words(""))+","+said("assistant", words("")), `{"role":"user","content":"x"},`+said("assistant", `{"type":"thinking","thinking":"","signature":"s"}`), 20), ""), func(w *warmth) { w.plan.Wrote = 20 }, []string{"m40"}, 41},
		"all marks stay where thinking goes": {request(turns(41, short), ""), func(w *warmth) { w.plan.Drop = true; w.plan.Wrote = 20 }, []string{"m34", "m40"}, 41},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, sent := planned(t, test.body, test.change)
			if diff := cmp.Diff(test.want, places(t, sent)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if w.plan.Next.Wrote != test.wrote {
				t.Errorf("%d messages are written, want %d", w.plan.Next.Wrote, test.wrote)
			}
			if !w.marked && w.plan.Untouched() && sent != test.body {
				t.Errorf("the body has changed to %s", sent)
			}
		})
	}
}

// many is a directive of many blocks.
func many(after int) []continuity.Edit {
	blocks := strings.Repeat(`,{"type":"text","text":"new"}`, 20)[1:]
	return []continuity.Edit{{After: after, Bytes: []byte(`{"role":"system","content":[` + blocks + `]}`)}}
}

// Frozen lists keep the client's marks at the places where the provider has
// written before.
func TestMarksOnFrozenLists(t *testing.T) {
	tool := func(name, mark string) string { return `{"name":"` + name + `"` + mark + `}` }
	tests := map[string]struct {
		tools  []string // of the request
		pieces string   // frozen ones by name, ~ for what is sent deferred, - for what the request no longer has
		want   []string
	}{
		"the last, as it was":                 {[]string{tool("a", ""), tool("b", short)}, "a b", []string{"t1"}},
		"CB-03 on a tool that came":           {[]string{tool("a", ""), tool("b", ""), tool("c", short)}, "a b ~c", []string{"t1"}},
		"on what is left":                     {[]string{tool("a", short)}, "a -b", []string{"t1"}},
		"in another order":                    {[]string{tool("b", ""), tool("a", short)}, "a b", []string{"t1"}},
		"two of them":                         {[]string{tool("a", long), tool("b", ""), tool("c", short)}, "a b c", []string{"t0h", "t2"}},
		"CB-04 two of them, in another order": {[]string{tool("c", long), tool("b", ""), tool("a", short)}, "a b c", []string{"t2h"}},
		"none":                                {[]string{tool("a", ""), tool("b", "")}, "b a", nil},
		"nothing that can carry one":          {[]string{tool("a", short)}, "~a", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := `{"tools":[` + strings.Join(test.tools, ",") + `],"messages":[` + said("user", words("")) + `]}`
			refused := false
			play := func(w *warmth) {
				w.unmarked = refused
				for name := range strings.FieldsSeq(test.pieces) {
					kind, bare := name[0], strings.TrimLeft(name, "~-")
					piece := continuity.Piece{Deferred: kind == '~'}
					for _, tool := range w.facts.Tools {
						if tool.Name == bare {
							piece.Span = tool.Span
						}
					}
					if kind == '-' {
						piece.Kept = continuity.Hash{1}
						w.kept[piece.Kept] = []byte(tool(bare, ""))
					}
					w.plan.Tools = append(w.plan.Tools, piece)
				}
			}
			for _, refused = range []bool{false, true} {
				if _, sent := planned(t, body, play); !cmp.Equal(test.want, places(t, sent)) {
					t.Errorf("refused %t: marks (-want +got):\n%s\n%s", refused, cmp.Diff(test.want, places(t, sent)), sent)
				}
			}
		})
	}
}
