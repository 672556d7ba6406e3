package anthropic_test

import (
	"strings"
	"testing"

	"warmpath/rewrite/continuity"
)

const (
	reminder = `{"type":"text","text":"<system-reminder>\nMind it.\n</system-reminder>"}`
	hello    = `{"type":"text","text":"hello"}`
	tagged   = `<system-reminder>x</system-reminder>`
)

func result(content string) string {
	return `{"type":"tool_result","tool_use_id":"t","content":` + content + `}`
}

// A user's message is known again without its reminders, by what is left.
func TestReminders(t *testing.T) {
	for name, c := range map[string]struct {
		with, without string // content of a user's message
		want          string // one letter each: i for inner ones, b for blocks
	}{
		"in front":              {`[` + reminder + `,` + hello + `]`, `"hello"`, "b"},
		"behind":                {`[` + hello + `,` + reminder + `]`, `[` + hello + `]`, "b"},
		"two":                   {`[` + reminder + `,` + hello + `,` + reminder + `]`, `"hello"`, "bb"},
		"another spelling":      {`[{"text":"\u003csystem-reminder\u003ey\u003c\/system-reminder>\n","type":"text","cache_control":{"type":"ephemeral"}},` + hello + `]`, `"hello"`, "b"},
		"beside a result":       {`[` + result(`"r"`) + `,` + reminder + `]`, `[` + result(`[{"type":"text","text":"r"}]`) + `]`, "b"},
		"in a result":           {`[` + result(`"r\n\n`+tagged+`\n"`) + `]`, `[` + result(`"r"`) + `]`, "i"},
		"two in a result":       {`[` + result(`[{"type":"text","text":"a"},{"type":"text","text":" r `+tagged+`\n`+tagged+`"}]`) + `]`, `[` + result(`[{"type":"text","text":"a"},{"type":"text","text":" r"}]`) + `]`, "ii"},
		"in a result, and more": {`[` + result(`"r`+tagged+`"`) + `,` + hello + `,` + reminder + `]`, `[` + result(`"r"`) + `,` + hello + `]`, "ib"},
	} {
		t.Run(name, func(t *testing.T) {
			with := facts(t, `{"messages":[{"role":"user","content":`+c.with+`}]}`).Messages[0]
			without := facts(t, `{"messages":[{"content":`+c.without+`,"role":"user"}]}`).Messages[0]
			if with.Reminders == nil {
				t.Fatal("none found")
			}
			if with.Line() != without.Meaning || without.Line() != without.Meaning || with.Meaning == without.Meaning {
				t.Error("what is left means something else")
			}
			got := ""
			for _, r := range with.Reminders.Each {
				if r.Meaning == (continuity.Hash{}) {
					t.Error("a reminder has no meaning")
				}
				if r.Inner {
					got += "i"
				} else {
					got += "b"
				}
			}
			if got != c.want {
				t.Errorf("reminders %s, want %s", got, c.want)
			}
		})
	}
}

// What cannot be left out is counted.
func TestFixedReminders(t *testing.T) {
	for name, message := range map[string]string{
		"none":                   `{"role":"user","content":[` + hello + `]}`,
		"nothing else is left":   `{"role":"user","content":[` + reminder + `]}`,
		"a string":               `{"role":"user","content":"` + tagged + `"}`,
		"text around it":         `{"role":"user","content":[{"type":"text","text":"x ` + tagged + `"},` + hello + `]}`,
		"two in one block":       `{"role":"user","content":[{"type":"text","text":"` + tagged + tagged + `"},` + hello + `]}`,
		"of the model":           `{"role":"assistant","content":[` + reminder + `,{"type":"text","text":"x","citations":[{"type":"x"}]}]}`,
		"only the end of one":    `{"role":"user","content":[{"type":"text","text":"x</system-reminder>"},` + hello + `]}`,
		"only the end, inside":   `{"role":"user","content":[` + result(`"x</system-reminder>"`) + `]}`,
		"a result without more":  `{"role":"user","content":[` + result(`"`+tagged+`"`) + `]}`,
		"in the first of two":    `{"role":"user","content":[` + result(`[{"type":"text","text":"a`+tagged+`"},{"type":"text","text":"b"}]`) + `]}`,
		"a result of no content": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + tagged + `"}]}`,
		"a result of words":      `{"role":"user","content":[` + result(`["`+tagged+`"]`) + `]}`,
		"in a document":          `{"role":"user","content":[{"type":"document","source":{"type":"text","data":"` + tagged + `"}},` + hello + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			m, n := facts(t, `{"messages":[`+message+`]}`).Messages[0], 0
			if m.Line() != m.Meaning {
				t.Error("something can be left out")
			}
			if m.Reminders != nil {
				n = len(m.Reminders.Each)
			}
			if want := strings.Count(message, "<system-reminder>"); n != want && m.Role == continuity.User {
				t.Errorf("counts %d, want %d", n, want)
			}
		})
	}
}

func TestTextAboutReminders(t *testing.T) {
	for n, want := range map[int]int{64: 64, 65: 0} {
		m := facts(t, `{"messages":[{"role":"user","content":"`+strings.Repeat(tagged, n)+`"}]}`).Messages[0]
		got := 0
		if m.Reminders != nil {
			got = len(m.Reminders.Each)
		}
		if got != want {
			t.Errorf("%d of %d are noted", got, n)
		}
	}
}

// Spelled messages are those whose bytes can reach the model in another way.
func TestSpelled(t *testing.T) {
	call := func(input string) string {
		return said(`{"type":"tool_use","id":"t","name":"a","input":` + input + `}`)
	}
	for name, c := range map[string]struct {
		message string
		want    bool
	}{
		"text":                   {said(`{"type":"text","text":"a<b"}`), false},
		"texts side by side":     {said(`{"type":"text","text":"a"}`, `{"type":"text","text":"b"}`), true},
		"no arguments":           {call(`{}`), false},
		"a plain string":         {call(`{"path":"/tmp/a b"}`), false},
		"a string with an angle": {call(`{"x":"a<b"}`), true},
		"its other spelling":     {call(`{"x":"a\u003cb"}`), true},
		"a letter":               {call(`{"x":"é"}`), true},
		"lines":                  {call(`{"x":"a\nb"}`), true},
		"a word":                 {call(`{"x":true}`), false},
		"a number":               {call(`{"x":1}`), true},
		"a list":                 {call(`{"x":[]}`), true},
		"two":                    {call(`{"x":"a","y":"b"}`), true},
		"a letter in a name":     {call(`{"é":"a"}`), true},
		"a hosted call":          {said(`{"type":"server_tool_use","id":"s","name":"a","input":{"x":"a","y":"b"}}`), true},
		"of a user":              {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"x","input":{"x":1,"y":2}}]}]}`, false},
		"a tool's definition":    {`{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a","input_schema":{}}}}]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if m := facts(t, `{"messages":[`+c.message+`]}`).Messages[0]; m.Spelled != c.want {
				t.Errorf("spelled: %v", m.Spelled)
			}
		})
	}
}
