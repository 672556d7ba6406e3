package rewrite_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/responses"
)

const (
	forPeople = `{"type":"text","text":"secret","annotations":{"audience":["user"]}}`
	forBoth   = `{"type":"text","text":"a"}`
)

// packedCases are texts that a client has made of what its servers gave, and what is
// left of them. The empty one is the text as it came, and - the placeholder.
var packedCases = map[string]struct{ text, want string }{
	"AUD-12 a result":              {`{"content":[` + forBoth + `,` + forPeople + `]}`, `{"content":[` + forBoth + `]}`},
	"AUD-12 with all its members":  {` { "isError": false, "content" : [ ` + forPeople + ` , ` + forBoth + ` ], "structuredContent":{"s":"secret"}, "_meta":{} } `, ` { "isError": false, "content" : [ ` + forBoth + ` ], "_meta":{} } `},
	"AUD-12 a server's answer":     {`{"jsonrpc":"2.0","id":1,"result":{"content":[` + forBoth + `,` + forPeople + `],"structuredContent":{"s":"secret"}}}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[` + forBoth + `]}}`},
	"PH-01 nothing of an answer":   {`{"id":1,"result":{"content":[` + forPeople + `]},"jsonrpc":"2.0"}`, `-`},
	"AUD-12 a result of both":      {`{"jsonrpc":"2.0","result":{},"content":[` + forBoth + `,` + forPeople + `]}`, `{"jsonrpc":"2.0","result":{},"content":[` + forBoth + `]}`},
	"an answer of something else":  {`{"id":1,"result":{"content":[` + forPeople + `]}}`, ``},
	"AUD-12 a list":                {`[` + forBoth + `,` + forPeople + `]`, `[` + forBoth + `]`},
	"AUD-12 a string in a string":  {quoted(`{"content":[` + forPeople + `,` + forBoth + `]}`), quoted(`{"content":[` + forBoth + `]}`)},
	"AUD-12 three deep":            {quoted(quoted(`{"content":[` + forPeople + `,` + forBoth + `]}`)), quoted(quoted(`{"content":[` + forBoth + `]}`))},
	"AUD-12 a result in a result":  {`{"content":[{"type":"text","text":` + quoted(`{"content":[`+forBoth+`,`+forPeople+`]}`) + `}]}`, `{"content":[{"type":"text","text":` + quoted(`{"content":[`+forBoth+`]}`) + `}]}`},
	"AUD-12 in a resource":         {`[{"type":"resource","resource":{"uri":"a:b","text":` + quoted(`[`+forBoth+`,`+forPeople+`]`) + `}}]`, `[{"type":"resource","resource":{"uri":"a:b","text":` + quoted(`[`+forBoth+`]`) + `}}]`},
	"AUD-12 in escapes":            {strings.Replace(`[`+forBoth+`,`+forPeople+`]`, "audience", `\u0061udience`, 1), `[` + forBoth + `]`},
	"AUD-03 what the model has":    {`[{"type":"text","text":"a","annotations":{"audience":["assistant"]}},` + forPeople + `]`, `[` + forBoth + `]`},
	"AUD-06 nobody that is known":  {`[` + forBoth + `,` + strings.Replace(forPeople, `"user"`, `"auditor"`, 1) + `]`, `[` + forBoth + `]`},
	"AUD-10 an image":              {`[` + forBoth + `,{"type":"image","data":"c2VjcmV0","mimeType":"image/png","annotations":{"audience":"user"}}]`, `[` + forBoth + `]`},
	"PH-01 nothing of a result":    {`{"content":[` + forPeople + `],"structuredContent":{"s":"secret"}}`, `-`},
	"PH-01 nothing of a list":      {`[` + forPeople + `,` + forPeople + `]`, `-`},
	"PH-01 nothing of a block":     {forPeople, `-`},
	"PH-01 nothing in a string":    {quoted(`[` + forPeople + `]`), `-`},
	"AUD-01 nothing for people":    {`{"content":[{"type":"text","text":"a","annotations":{"audience":["assistant"]}}]}`, ``},
	"not all are blocks":           {`[` + forBoth + `,{"annotations":{"audience":["user"]}}]`, ``},
	"not all are objects":          {`[` + forPeople + `,"a"]`, ``},
	"no list":                      {`{"content":` + forPeople + `}`, ``},
	"an empty list":                {`{"content":[],"a":` + forPeople + `}`, ``},
	"another document":             {`{"annotations":{"audience":["user"]},"text":"secret","type":"map"}`, ``},
	"two contents":                 {`{"content":[` + forPeople + `],"content":[` + forBoth + `]}`, ``},
	"no JSON":                      {`[` + forPeople + `]]`, ``},
	"prose that quotes":            {`The result was [` + forPeople + `].`, ``},
	"a line before":                {"Output:\n[" + forPeople + `]`, ``},
	"one line each":                {forPeople + "\n" + forPeople, ``},
	"a speech about the audience":  {`"the audience"`, ``},
	"a text that has only begun":   {`{"audience`, ``},
	"deeper than anybody packs it": {quoted(quoted(quoted(quoted(quoted(`[` + forPeople + `]`))))), ``},
}

// A client may write what its servers gave as a text, and no dialect has another word
// for such a text.
func TestAudienceOfPackedResults(t *testing.T) {
	for _, d := range speakers {
		kind := "text"
		if d.name == "responses" {
			kind = "input_text"
		}
		for name, c := range packedCases {
			text, want := quoted(c.text), quoted(c.want)
			switch c.want {
			case "":
				want = text
			case "-":
				want = `"Tool executed successfully."`
			}
			contents := map[string][2]string{"the text": {text, want}}
			if d.name != "gemini" {
				in := func(text string) string {
					return `[{"type":"` + kind + `","text":` + text + `},{"type":"` + kind + `","text":"b"}]`
				}
				contents["in a block"] = [2]string{in(text), in(want)}
				if c.want == "-" {
					contents["in a block"] = [2]string{in(text), `[{"type":"` + kind + `","text":"b"}]`}
				}
			}
			for where, content := range contents {
				t.Run(d.name+"/"+name+"/"+where, func(t *testing.T) {
					got := withheld(d.words, fmt.Sprintf(d.request, content[0]))
					if diff := cmp.Diff(fmt.Sprintf(d.request, content[1]), got); diff != "" {
						t.Error(diff)
					}
					if diff := cmp.Diff(got, withheld(d.words, got)); diff != "" {
						t.Errorf("AUD-15 again it is another: %s", diff)
					}
				})
			}
		}
	}
}

// What a text packs is found in a block that the dialect writes otherwise, too, and a
// failure is told as one.
func TestAudienceOfPackedBlocks(t *testing.T) {
	text := quoted(`{"content":[` + forBoth + `,` + forPeople + `]}`)
	left := quoted(`{"content":[` + forBoth + `]}`)
	nothing := quoted(`{"isError":true,"content":[` + forPeople + `]}`)
	for name, c := range map[string]struct {
		of            int
		content, want string
	}{
		"messages: a resource":     {0, `[{"type":"resource","resource":{"uri":"a:b","text":` + text + `}}]`, `[{"type":"text","text":` + quoted("```\n{\"content\":["+forBoth+"]}\n```") + `}]`},
		"responses: a text of MCP": {2, `[{"type":"text","text":` + text + `}]`, `[{"type":"input_text","text":` + left + `}]`},
		"PH-02 messages":           {0, nothing, `"Tool failed."`},
		"PH-02 completions":        {1, `[{"type":"text","text":` + nothing + `}]`, `"Tool failed."`},
		"PH-02 responses":          {2, nothing, `"Tool failed."`},
		"PH-02 gemini":             {3, nothing, `"Tool failed."`},
		"gemini: deep in a result": {3, `{"a":[{"b":` + text + `}]}`, `{"a":[{"b":` + left + `}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := speakers[c.of]
			if diff := cmp.Diff(fmt.Sprintf(d.request, c.want), withheld(d.words, fmt.Sprintf(d.request, c.content))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What stands around what is cut keeps its spelling.
func TestAudienceKeepsTheSpellingOfTexts(t *testing.T) {
	const text = `"\n{\u0022content\u0022 : [{\"type\":\"te\u0078t\",\"text\":\"\\u00e9\u00e9\/\ud83d\ude42é\"}%s],\"isError\":\tfalse}"`
	for _, d := range speakers {
		content := strings.Replace(text, `\t`, `\u0009`, 1)
		hidden := `,{\"annotations\":{\"audience\":[\"us\u0065r\"]},\"text\":\"secret\ud83d\",\"type\":\"text\"}`
		body := fmt.Sprintf(d.request, fmt.Sprintf(content, hidden))
		if diff := cmp.Diff(fmt.Sprintf(d.request, fmt.Sprintf(content, "")), withheld(d.words, body)); diff != "" {
			t.Errorf("%s: %s", d.name, diff)
		}
	}
}

// Agents put lines of their own in front of what a server's tool gave, and what stands
// behind lines that another tool gave is its own.
func TestAudienceBehindLines(t *testing.T) {
	const all, left = "[" + forBoth + "," + forPeople + "]", "[" + forBoth + "]"
	for name, c := range map[string]struct{ tool, output, want string }{
		"AUD-12 behind a line":            {"mcp__files__read", "Wall time: 1 s\nOutput:\n" + all, "Wall time: 1 s\nOutput:\n" + left},
		"AUD-12 a result behind a line":   {"mcp__files__read", "Output:\n" + `{"content":` + all + `}`, "Output:\n" + `{"content":` + left + `}`},
		"PH-01 nothing is left behind it": {"mcp__files__read", "Output:\n[" + forPeople + "]", "Output:\nTool executed successfully."},
		"what is no JSON":                 {"mcp__files__read", "Output:\n" + all + "]", ""},
		"what another tool has written":   {"shell", "Output:\n" + all, ""},
		"a text that speaks of audiences": {"mcp__files__read", "the audience\n[{ is here", ""},
	} {
		t.Run(name, func(t *testing.T) {
			const request = `{"model":"m","input":[{"type":"function_call","call_id":"c","name":"%s","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":%s}]}`
			want := c.want
			if want == "" {
				want = c.output
			}
			got := withheld(&responses.Audience, fmt.Sprintf(request, c.tool, quoted(c.output)))
			if diff := cmp.Diff(fmt.Sprintf(request, c.tool, quoted(want)), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// packing makes results of the protocol, packed into texts up to a depth, with a secret
// in blocks for people and words everywhere else.
type packing struct {
	*rand.Rand
	kept []string
}

func (p *packing) block(depth int) string {
	word := fmt.Sprintf("WORD%d", p.Uint64())
	switch p.IntN(5) {
	case 0:
		return `{"type":"text","annotations":{"audience":["user"],"priority":1},"text":"FOR-PEOPLE ` + word + `"}`
	case 1:
		return `{"type":"image","mimeType":"image/png","data":"FORPEOPLE","annotations":{"audience":"user"}}`
	case 2:
		if depth > 0 {
			return `{"type":"text","text":` + quoted(p.result(depth-1)) + `}`
		}
	case 3:
		p.kept = append(p.kept, word)
		return `{"text":"é\"\\ ` + word + `","type":"text","annotations":{"audience":["user","assistant"]}}`
	}
	p.kept = append(p.kept, word)
	return `{"type":"text", "text":"` + word + `"}`
}

func (p *packing) result(depth int) string {
	if depth > 0 && p.IntN(6) == 0 {
		return quoted(p.result(depth - 1))
	}
	var blocks []string
	for range 1 + p.IntN(4) {
		blocks = append(blocks, p.block(depth))
	}
	list := "[" + strings.Join(blocks, " , ") + "]"
	if p.IntN(3) == 0 {
		return list
	}
	return `{"content":` + list + `,"isError":false}`
}

// Whatever is packed how deep: no word for people is left, and every other one is.
func TestAudienceOfWhateverIsPacked(t *testing.T) {
	for seed := range uint64(2000) {
		p := &packing{Rand: rand.New(rand.NewPCG(seed, 1))}
		text := p.result(2)
		d := speakers[seed%uint64(len(speakers))]
		body := fmt.Sprintf(d.request, quoted(text))
		got := withheld(d.words, body)
		if strings.Contains(got, "FOR-PEOPLE") || strings.Contains(got, "FORPEOPLE") || !json.Valid([]byte(got)) {
			t.Fatalf("seed %d: %s became %s", seed, body, got)
		}
		for _, word := range p.kept {
			if !strings.Contains(got, word) {
				t.Fatalf("seed %d: %s is not in %s, of %s", seed, word, got, body)
			}
		}
		if again := withheld(d.words, got); again != got {
			t.Fatalf("seed %d: %s became %s and then %s", seed, body, got, again)
		}
	}
}
