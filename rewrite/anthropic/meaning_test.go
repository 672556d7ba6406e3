package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/rewrite/continuity"
)

// pair is an element in two spellings, of a tool, a section or a message.
type pair struct{ of, a, b string }

func (p pair) hashes(t *testing.T) (a, b [2]continuity.Hash) {
	t.Helper()
	one := func(element string) [2]continuity.Hash {
		switch p.of {
		case "tool":
			tool := facts(t, `{"tools":[`+element+`],"messages":[]}`).Tools[0]
			return [2]continuity.Hash{tool.Meaning, tool.Exact}
		case "system":
			section := facts(t, `{"system":`+element+`,"messages":[]}`).Sections[0]
			return [2]continuity.Hash{section.Meaning, section.Exact}
		}
		if !strings.HasPrefix(element, `{"role"`) && !strings.HasSuffix(element, `"role":"user"}`) {
			element = fmt.Sprintf(`{"role":%q,"content":%s}`, p.of, element)
		}
		m := facts(t, `{"messages":[`+element+`]}`).Messages[0]
		return [2]continuity.Hash{m.Meaning, m.Exact}
	}
	return one(p.a), one(p.b)
}

var long = strings.Repeat("0123456789abcdef", 8)

// same are elements written in two ways.
var same = map[string]pair{
	"string and block":        {"user", `"hi"`, `[{"type":"text","text":"hi"}]`},
	"system string and block": {"system", `"hi"`, `[{"type":"text","text":"hi"}]`},
	"result string and block": {"user", `[{"type":"tool_result","tool_use_id":"t","content":"r"}]`, `[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]`},
	"order of a block":        {"user", `[{"type":"text","text":"hi"}]`, `[{"text":"hi","type":"text"}]`},
	"order of a message":      {"user", `{"role":"user","content":"hi"}`, `{"content":"hi","role":"user"}`},
	"order of arguments":      {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"b":{"y":1,"x":2},"a":1}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{"a":1,"b":{"x":2,"y":1}}}]`},
	"order of a schema":       {"tool", `{"name":"a","input_schema":{"type":"object","properties":{}}}`, `{"input_schema":{"properties":{},"type":"object"},"name":"a"}`},
	"white space":             {"user", `[{"type":"text","text":"hi"}]`, "[ {\n\t\"type\" : \"text\" ,\r\n \"text\":\"hi\" } ]"},
	"an escaped letter":       {"user", `"caf\u00e9"`, `"café"`},
	"an escaped pair":         {"user", `"\ud83d\uDE00"`, `"😀"`},
	"an escaped slash":        {"user", `"a\/b"`, `"a/b"`},
	"an escaped quote":        {"user", `"a\u0022b\u005c"`, `"a\"b\\"`},
	"an escaped line end":     {"user", `"a\u000ab\u001F"`, `"a\nb\u001f"`},
	"half a pair":             {"user", `"\uD83D!"`, `"\ud83d!"`},
	"a number":                {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"n":1,"m":0.5}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{"n":1.0,"m":5e-1}}]`},
	"an escaped name":         {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"\u0061":1,"b":2}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{"b":2,"a":1}}]`},
	"a mark":                  {"user", `[{"type":"text","text":"hi"}]`, `[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]`},
	"a mark in front":         {"user", `[{"type":"text","text":"hi"}]`, `[{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text","text":"hi"}]`},
	"a null mark":             {"user", `[{"type":"text","text":"hi"}]`, `[{"type":"text","text":"hi","cache_control":null}]`},
	"a mark in a result":      {"user", `[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]`, `[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r","cache_control":{}}]}]`},
	"a mark on a tool":        {"tool", `{"name":"a","input_schema":{}}`, `{"name":"a","cache_control":{"type":"ephemeral"},"input_schema":{}}`},
	"a mark on a section":     {"system", `"hi"`, `[{"type":"text","text":"hi","cache_control":{}}]`},

	"deferral":                    {"tool", `{"name":"a","defer_loading":true}`, `{"name":"a"}`},
	"null citations":              {"assistant", `[{"type":"text","text":"hi","citations":null}]`, `[{"type":"text","text":"hi"}]`},
	"no citations":                {"assistant", `[{"type":"text","text":"hi","citations":[]}]`, `[{"type":"text","text":"hi"}]`},
	"null in a citation":          {"assistant", `[{"type":"text","text":"hi","citations":[{"type":"char_location","file_id":null}]}]`, `[{"type":"text","text":"hi","citations":[{"type":"char_location"}]}]`},
	"null in a hosted result":     {"assistant", `[{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","page_age":null}]}]`, `[{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result"}]}]`},
	"the default caller":          {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{},"caller":{"type":"direct"}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{}}]`},
	"texts joined":                {"assistant", `[{"type":"text","text":"a"},{"type":"text","text":"b\n"},{"type":"text","text":"c"}]`, `"ab\nc"`},
	"long texts joined elsewhere": {"assistant", `[{"type":"text","text":"` + long + `"},{"type":"text","text":"` + long + `x"}]`, `[{"type":"text","text":"` + long + long[:64] + `"},{"text":"` + long[64:] + `x","type":"text"}]`},
}

// different are elements that are not the same one.
var different = map[string]pair{
	"text":                          {"user", `"hi"`, `"hi "`},
	"role":                          {"", `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"hi"}`},
	"number":                        {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"n":1}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{"n":10}}]`},
	"order of an array":             {"tool", `{"name":"a","input_schema":{"required":["x","y"]}}`, `{"name":"a","input_schema":{"required":["y","x"]}}`},
	"order of blocks":               {"user", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `[{"type":"text","text":"b"},{"type":"text","text":"a"}]`},
	"texts of a user joined":        {"user", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `"ab"`},
	"texts joined over a citation":  {"assistant", `[{"type":"text","text":"a","citations":[{"type":"x"}]},{"type":"text","text":"b"}]`, `"ab"`},
	"citations":                     {"assistant", `[{"type":"text","text":"a","citations":[{"type":"x"}]}]`, `"a"`},
	"null in arguments":             {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"n":null}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{}}]`},
	"an empty list in arguments":    {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"citations":[]}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{}}]`},
	"a user's cache_control":        {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"cache_control":{}}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{}}]`},
	"a user's cache_control schema": {"tool", `{"name":"a","input_schema":{"properties":{"cache_control":{}}}}`, `{"name":"a","input_schema":{"properties":{}}}`},
	"a user's defer_loading":        {"tool", `{"name":"a","input_schema":{"properties":{"defer_loading":true}}}`, `{"name":"a","input_schema":{"properties":{}}}`},
	"null in a schema":              {"tool", `{"name":"a","input_schema":{"default":null}}`, `{"name":"a","input_schema":{}}`},
	"description":                   {"tool", `{"name":"a","description":"x"}`, `{"name":"a","description":"y"}`},
	"another caller":                {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{},"caller":{"type":"code_execution_20260120","tool_id":"s"}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{}}]`},
	"an error":                      {"user", `[{"type":"tool_result","tool_use_id":"t","content":"r","is_error":true}]`, `[{"type":"tool_result","tool_use_id":"t","content":"r"}]`},
	"signature":                     {"assistant", `[{"type":"thinking","thinking":"","signature":"a"}]`, `[{"type":"thinking","thinking":"","signature":"b"}]`},
	"a scoped message":              {"", `{"role":"system","content":"x","clear_at":"next_user_message"}`, `{"role":"system","content":"x"}`},
	"half pairs":                    {"user", `"\ud83d"`, `"\ud83e"`},
	"a string for a number":         {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"n":1}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{"n":"1"}}]`},
	"a name twice":                  {"assistant", `[{"type":"tool_use","id":"t","name":"a","input":{"a":1,"a":2}}]`, `[{"type":"tool_use","id":"t","name":"a","input":{"a":2,"a":1}}]`},
}

// markedOnly are those of same that differ in a mark alone.
var markedOnly = []string{"a mark", "a mark in front", "a mark in a result", "a mark on a tool"}

func TestMeaningIsTheSame(t *testing.T) {
	for name, p := range same {
		t.Run(name, func(t *testing.T) {
			a, b := p.hashes(t)
			if a[0] != b[0] {
				t.Errorf("differ in meaning:\n%s\n%s", p.a, p.b)
			}
		})
	}
}

func TestMeaningDiffers(t *testing.T) {
	for name, p := range different {
		t.Run(name, func(t *testing.T) {
			a, b := p.hashes(t)
			if a[0] == b[0] {
				t.Errorf("mean the same:\n%s\n%s", p.a, p.b)
			}
			if a[1] == b[1] {
				t.Errorf("are the same bytes:\n%s\n%s", p.a, p.b)
			}
		})
	}
}

func TestExactIgnoresMarksOnly(t *testing.T) {
	is := map[string]bool{}
	for _, name := range markedOnly {
		is[name] = true
	}
	for name, p := range same {
		t.Run(name, func(t *testing.T) {
			a, b := p.hashes(t)
			if equal := a[1] == b[1]; equal != is[name] {
				t.Errorf("equal bytes: %v\n%s\n%s", equal, p.a, p.b)
			}
		})
	}
}

// What the layout leaves out is long strings; where they stand must still show.
func TestExactTellsLongStringsApart(t *testing.T) {
	input := `[{"type":"tool_use","id":"t","name":"a","input":{%s}}]`
	for name, p := range map[string]pair{
		"swapped values":   {"assistant", fmt.Sprintf(input, `"a":"`+long+`1","b":"`+long+`2"`), fmt.Sprintf(input, `"b":"`+long+`2","a":"`+long+`1"`)},
		"swapped names":    {"assistant", fmt.Sprintf(input, `"`+long+`1":1,"`+long+`2":1`), fmt.Sprintf(input, `"`+long+`2":1,"`+long+`1":1`)},
		"another spelling": {"assistant", fmt.Sprintf(input, `"a":"`+long+`\/"`), fmt.Sprintf(input, `"a":"`+long+`/"`)},
		"white space":      {"assistant", fmt.Sprintf(input, `"a":"`+long+`"`), fmt.Sprintf(input, `"a": "`+long+`"`)},
		"a long null mark": {"user", `[{"type":"text","text":"` + long + `"}]`, `[{"type":"text","text":"` + long + `","cache_control":null}]`},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := p.hashes(t)
			if a[0] != b[0] {
				t.Error("differ in meaning")
			}
			if a[1] == b[1] {
				t.Error("are the same bytes")
			}
		})
	}
}

func TestMeaningOfAChangeOfTools(t *testing.T) {
	p := pair{"", `{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a","cache_control":{}}}}]}`,
		`{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a"}}}]}`}
	if a, b := p.hashes(t); a != b {
		t.Error("a mark makes a difference")
	}
}
