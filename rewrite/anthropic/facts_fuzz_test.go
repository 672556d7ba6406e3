package anthropic_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// seeds are whole bodies and all elements of the tables, in one.
func seeds(f *testing.F) {
	f.Add(agentRequest(2, 6))
	for _, content := range []string{`[` + reminder + `,` + hello + `]`, `[` + result(`"r\u003c/\n`+tagged+`\n"`) + `,` + reminder + `]`} {
		f.Add([]byte(`{"messages":[{"role":"user","content":` + content + `}]}`))
	}
	for _, table := range []map[string]pair{same, different} {
		for _, p := range table {
			for _, element := range []string{p.a, p.b} {
				switch p.of {
				case "tool":
					f.Add([]byte(`{"tools":[` + element + `],"messages":[]}`))
				case "system":
					f.Add([]byte(`{"system":` + element + `,"messages":[]}`))
				case "":
					f.Add([]byte(`{"messages":[` + element + `]}`))
				default:
					f.Add([]byte(`{"messages":[{"role":"` + p.of + `","content":` + element + `}]}`))
				}
			}
		}
	}
}

// elements are all spans of the facts with their hashes.
func elements(f *continuity.Facts) (spans []rewrite.Span, meaning, exact []continuity.Hash) {
	add := func(s rewrite.Span, m, e continuity.Hash) {
		spans, meaning, exact = append(spans, s), append(meaning, m), append(exact, e)
	}
	for _, t := range f.Tools {
		add(t.Span, t.Meaning, t.Exact)
	}
	for _, s := range f.Sections {
		add(s.Span, s.Meaning, s.Exact)
	}
	for _, m := range f.Messages {
		add(m.Span, m.Meaning, m.Exact)
		// What a message is known by is a meaning too.
		add(m.Span, m.Line(), m.Exact)
	}
	return spans, meaning, exact
}

// FuzzReadFacts asks that spans are what they say, and that writing the body in
// another way changes no meaning.
func FuzzReadFacts(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		facts, err := anthropic.ReadFacts(body)
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%s is no JSON", body)
		}
		peeked, err := splice.Peek(body)
		if own := (rewrite.Facts{Model: facts.Model, ModelSpan: facts.ModelSpan, Stream: facts.Stream}); err != nil || own != peeked {
			t.Fatalf("%+v, %v at a glance, and %+v in %s", peeked, err, own, body)
		}
		spans, meaning, exact := elements(facts)
		for i, s := range spans {
			if s.Start < 0 || s.End > len(body) || !json.Valid(body[s.Start:s.End]) {
				t.Fatalf("element %d at %v is no value", i, s)
			}
		}
		for _, tool := range facts.Tools {
			if m := tool.Mark; m.Len() > 0 && (m.Start <= tool.Span.Start || m.End >= tool.Span.End) {
				t.Fatalf("the mark %v is outside %v", m, tool.Span)
			}
		}
		for _, s := range facts.Sections {
			if s.Text.Start < s.Span.Start || s.Text.End > s.Span.End || s.Text.Len() < 2 || body[s.Text.Start] != '"' || body[s.Text.End-1] != '"' {
				t.Fatalf("the text %v of %v", s.Text, s.Span)
			}
		}
		var indented, escaped bytes.Buffer
		if err := json.Indent(&indented, body, "", " "); err != nil {
			t.Fatal(err)
		}
		json.HTMLEscape(&escaped, body)
		for _, other := range [][]byte{indented.Bytes(), escaped.Bytes()} {
			again, err := anthropic.ReadFacts(other)
			if err != nil {
				t.Fatalf("%v: %s", err, other)
			}
			_, meant, _ := elements(again)
			for i := range meaning {
				if meant[i] != meaning[i] {
					t.Fatalf("element %d of %s means something else in %s", i, body, other)
				}
			}
			if again.Marks != facts.Marks || again.Forced != facts.Forced || again.Effort != facts.Effort {
				t.Fatalf("%+v is read as %+v", facts, again)
			}
		}
		unmarked(t, body, facts, exact)
	})
}

// unmarked asks that bytes without marks are the same exactly if their hashes
// are, for every element with every other.
func unmarked(t *testing.T, body []byte, facts *continuity.Facts, exact []continuity.Hash) {
	spans, _, _ := elements(facts)
	stripped := make([]string, len(spans))
	for i, s := range spans {
		stripped[i] = string(anthropic.StripMark(body[s.Start:s.End]))
	}
	for i := range spans {
		for j := range i {
			if (stripped[i] == stripped[j]) != (exact[i] == exact[j]) {
				t.Fatalf("%s and %s: the hashes are equal: %v", stripped[i], stripped[j], exact[i] == exact[j])
			}
		}
	}
}

// FuzzApply asks that no edits give the same body, that what is inserted stands
// where it should, that the client's messages stay, and that marks go.
func FuzzApply(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		facts, err := anthropic.ReadFacts(body)
		if err != nil {
			return
		}
		got, err := anthropic.Apply(nil, body, facts, &anthropic.Edits{})
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("no edits give %s, %v", got, err)
		}
		inserted := []byte(`{"role":"system","content":[{"type":"text","text":"x"}]}`)
		edits := anthropic.Edits{Automatic: true, Diagnostics: []byte(`{"previous_message_id":null}`)}
		for k := range len(facts.Messages) + 1 {
			edits.Inserts = append(edits.Inserts, continuity.Edit{After: k, Bytes: inserted})
		}
		for i := range facts.Tools {
			edits.Marks = append(edits.Marks, anthropic.Mark{Of: anthropic.OfTools, Index: i})
		}
		for i := range facts.Messages {
			edits.Marks = append(edits.Marks, anthropic.Mark{Of: anthropic.OfMessages, Index: i, Text: []byte(`{"type":"ephemeral"}`)})
		}
		if got, err = anthropic.Apply(got[:0], body, facts, &edits); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(got) {
			t.Fatalf("%s becomes %s", body, got)
		}
		after, err := anthropic.ReadFacts(got)
		if err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if len(after.Messages) != 2*len(facts.Messages)+1 || !after.Automatic {
			t.Fatalf("%d messages become %d", len(facts.Messages), len(after.Messages))
		}
		for i, m := range facts.Messages {
			if x := after.Messages[2*i+1]; x.Meaning != m.Meaning || x.Exact != m.Exact {
				t.Fatalf("message %d of %s differs in %s", i, body, got)
			}
		}
		for i, tool := range facts.Tools {
			if x := after.Tools[i]; x.Exact != tool.Exact || x.Mark.Len() > 0 || x.Span.Len() != tool.Span.Len()-tool.Mark.Len() {
				t.Fatalf("tool %d of %s differs in %s", i, body, got)
			}
		}
	})
}

// FuzzMapIndex asks that nothing but numbers changes, and that the identity
// changes nothing at all.
func FuzzMapIndex(f *testing.F) {
	for _, seed := range []string{"messages.3: x", `{"error":{"message":"\nmessages.3"}}`, `{"message":{"input_transformations":[{"path":"messages.3"}]}}`, `{"error":{`} {
		f.Add([]byte(seed))
	}
	digits := func(text []byte) []byte {
		return bytes.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return -1
			}
			return r
		}, text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := anthropic.MapIndex(text, func(n int) int { return n }); !bytes.Equal(got, text) {
			t.Fatalf("%q becomes %q", text, got)
		}
		got := anthropic.MapIndex(text, func(int) int { return 7 })
		if !bytes.Equal(digits(got), digits(text)) {
			t.Fatalf("%q becomes %q", text, got)
		}
		if json.Valid(text) && !json.Valid(got) {
			t.Fatalf("%q is JSON and %q is not", text, got)
		}
	})
}
