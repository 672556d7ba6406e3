package rewrite_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// speakers are the dialects that results come in, each with a request of one result.
var speakers = []struct {
	name    string
	words   *audience.Words
	request string // with the content as %s
	failed  string // the same of a failure
}{
	{"messages", &anthropic.Audience,
		`{"model":"m", "messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{"annotations":{"audience":["user"]}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":%s,"cache_control":{"type":"ephemeral"}}]}]}`,
		`{"model":"m", "messages":[{"role":"user","content":[{"content":%s,"is_error":true,"tool_use_id":"c","type":"tool_result"}]}]}`},
	{"completions", &completions.Audience,
		`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"annotations\":1}"}}]},{"content":%s,"role":"tool","tool_call_id":"c"}]}`, ``},
	{"responses", &responses.Audience,
		`{"model":"m","input":[{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":%s}]}`,
		`{"model":"m","input":[{"type":"custom_tool_call_output","call_id":"c","output":%s,"is_error":true}]}`},
	{"gemini", &gemini.Audience,
		`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"n","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"n","response":{"content":%s}}}]}]}`,
		`{"contents":[{"role":"user","parts":[{"function_response":{"name":"n","response":{"isError":true,"content":%s}}}]}]}`},
}

// withheld applies all changes of a request.
func withheld(words *audience.Words, body string) string {
	changes, err := words.Find([]byte(body))
	if err != nil {
		return err.Error()
	}
	var edits []splice.Edit
	for _, change := range changes {
		edits = append(edits, change.Edits...)
	}
	return string(splice.Apply(nil, []byte(body), edits))
}

// resultCases are contents of results and what the provider gets; in responses, where
// that is otherwise. TEXT is what a block of text is called.
var resultCases = map[string]struct{ content, want, responses string }{
	"AUD-01 nobody in particular":    {`[{"type":"TEXT", "text":"a" },{"text":"b","type":"TEXT"}]`, ``, ``},
	"AUD-02 the user":                {`[{"type":"text","text":"secret","annotations":{"audience":["user"]}},{"type":"TEXT","text":"b"}]`, `[{"type":"TEXT","text":"b"}]`, ``},
	"AUD-02 the user, at the end":    {`[ {"type":"TEXT","text":"b"} , {"type":"text","text":"secret","annotations":{"audience":["user"]}} ]`, `[ {"type":"TEXT","text":"b"} ]`, ``},
	"AUD-02 its name in escapes":     {`[{"type":"TEXT","text":"b"},{"type":"text","text":"secret","\u0061nnotations":{"audi\u0065nce":["us\u0065r"]}}]`, `[{"type":"TEXT","text":"b"}]`, ``},
	"AUD-02 said twice":              {`[{"type":"TEXT","text":"b"},{"annotations":{"audience":["user"]},"type":"text","text":"secret","annotations":{}}]`, `[{"type":"TEXT","text":"b"}]`, ``},
	"AUD-03 the model":               {`[{"type":"TEXT","text":"a","annotations":{"audience":["assistant"],"priority":1}}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-03 the model, said first":   {`[{"annotations":{"audience":["assistant"]}, "type":"TEXT","text":"a"}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-04 both":                    {`[{"type":"TEXT","text":"a","annotations":{"audience":["user","assistant"]}}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-05 an empty list":           {`[{"type":"TEXT","text":"a","annotations":{"audience":[]}}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-06 unknown names":           {`[{"type":"TEXT","text":"a"},{"type":"text","text":"secret","annotations":{"audience":["auditor"]}}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-07 one name":                {`[{"type":"TEXT","text":"a"},{"type":"text","text":"secret","annotations":{"audience":"user"}}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-08 no audience":             {`[{"type":"TEXT","text":"a","annotations":{"lastModified":"2026-01-01T00:00:00Z"}}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-08 null":                    {`[{"type":"TEXT","text":"a","annotations":null,"_meta":null}]`, `[{"type":"TEXT","text":"a"}]`, ``},
	"AUD-10 a resource":              {`[{"type":"resource","resource":{"uri":"file:///s","text":"secret"},"annotations":{"audience":["user"]}},{"type":"TEXT","text":"b"}]`, `[{"type":"TEXT","text":"b"}]`, ``},
	"AUD-10 the resource itself":     {`[{"type":"resource","resource":{"uri":"file:///s","text":"secret","annotations":{"audience":["user"]}}},{"type":"TEXT","text":"b"}]`, `[{"type":"TEXT","text":"b"}]`, ``},
	"AUD-14 the order stays":         {`[{"type":"TEXT","text":"1"},{"type":"text","text":"secret","annotations":{"audience":["user"]}},{"type":"TEXT","text":"2"},{"type":"text","text":"secret","annotations":{"audience":["user"]}},{"type":"text","text":"secret","annotations":{"audience":["user"]}},{"type":"TEXT","text":"3"}]`, `[{"type":"TEXT","text":"1"},{"type":"TEXT","text":"2"},{"type":"TEXT","text":"3"}]`, ``},
	"PH-01 nothing is left":          {`[{"type":"text","text":"secret","annotations":{"audience":["user"]}},{"type":"image","data":"c2VjcmV0","mimeType":"image/png","annotations":{"audience":["user"]}}]`, `"Tool executed successfully."`, ``},
	"PH-06 an empty text is left":    {`[{"type":"TEXT","text":""},{"type":"text","text":"secret","annotations":{"audience":["user"]}}]`, `"Tool executed successfully."`, ``},
	"PH-07 one block is left":        {`[{"type":"text","text":"secret","annotations":{"audience":["user"]}},{"type":"TEXT","text":"ok","annotations":{"audience":["assistant"]}}]`, `[{"type":"TEXT","text":"ok"}]`, ``},
	"PH-07 a text alone stays empty": {`[{"type":"TEXT","text":""}]`, ``, ``},
	"BLK-05 the order of kinds stays": {`[{"type":"text","text":"1"},{"type":"resource","resource":{"uri":"file:///a.rs","mimeType":"text/x-rust","text":"fn"}},{"type":"text","text":"2"}]`,
		`[{"type":"text","text":"1"},{"type":"text","text":"` + "```rust\\nfn\\n```" + `"},{"type":"text","text":"2"}]`,
		`[{"type":"input_text","text":"1"},{"type":"input_text","text":"` + "```rust\\nfn\\n```" + `"},{"type":"input_text","text":"2"}]`},
	"BLK-06 a resource that is formatted": {`[{"type":"resource","resource":{"uri":"file:///a.rs","mimeType":"text/x-rust","text":"fn"},"formatted":"as it is"}]`,
		`[{"type":"text","text":"as it is"}]`, `[{"type":"input_text","text":"as it is"}]`},
	"BLK-10 a text's type":       {`[{"type":"TEXT","text":"a","mimeType":"text/markdown"},{"type":"TEXT","text":"b"}]`, `[{"type":"TEXT","text":"a"},{"type":"TEXT","text":"b"}]`, ``},
	"BLK-08 a text without list": {`"secret"`, ``, ``},
	"PH-08 nothing, again":       {`[{"type":"text","text":"another secret","annotations":{"audience":["user"]}}]`, `"Tool executed successfully."`, ``},
}

func TestAudienceOfResults(t *testing.T) {
	for _, d := range speakers {
		kind := "text"
		if d.name == "responses" {
			kind = "input_text"
		}
		for name, c := range resultCases {
			t.Run(d.name+"/"+name, func(t *testing.T) {
				content, want := strings.ReplaceAll(c.content, "TEXT", kind), strings.ReplaceAll(c.want, "TEXT", kind)
				if want == "" {
					want = content
				}
				if d.name == "responses" && c.responses != "" {
					want = c.responses
				}
				for i, request := range []string{d.request, d.failed} {
					if request == "" {
						continue
					}
					if i > 0 {
						want = strings.Replace(want, "Tool executed successfully.", "Tool failed.", 1)
					}
					body := fmt.Sprintf(request, content)
					got := withheld(d.words, body)
					if diff := cmp.Diff(fmt.Sprintf(request, want), got); diff != "" {
						t.Error(diff)
					}
					t.Run("AUD-15 again it is the same", func(t *testing.T) {
						if diff := cmp.Diff(got, withheld(d.words, got)); diff != "" {
							t.Error(diff)
						}
					})
				}
			})
		}
	}
}

// Kinds of blocks that a dialect has its own words for.
func TestAudienceWords(t *testing.T) {
	const image, sound = `{"type":"image","data":"AAAA","mimeType":"image/png"}`, `{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`
	const pdf = `{"type":"resource","resource":{"uri":"file:///d/a.pdf","mimeType":"application/pdf","blob":"AAAA"}}`
	const link = `{"type":"resource_link","uri":"file:///a","name":"n","title":"A","description":"about"}`
	for name, c := range map[string]struct {
		words         *audience.Words
		request       string
		content, want string
	}{
		"BLK-11 messages: an image and a document": {speakers[0].words, speakers[0].request, `[` + image + `,` + pdf + `]`, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a.pdf"}]`},
		"BLK-11 completions: an image and a file":  {speakers[1].words, speakers[1].request, `[` + image + `,` + pdf + `]`, `[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}]`},
		"BLK-11 responses: an image and a file":    {speakers[2].words, speakers[2].request, `[` + image + `,` + pdf + `]`, `[{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]`},
		"BLK-11 gemini: as they come":              {speakers[3].words, speakers[3].request, `[` + image + `,` + pdf + `,` + sound + `]`, `[` + image + `,` + pdf + `,` + sound + `]`},
		"BLK-11 messages: a link":                  {speakers[0].words, speakers[0].request, `[` + link + `]`, `[{"type":"text","text":"A: file:///a\nabout"}]`},
		"BLK-11 a blob that is text":               {speakers[0].words, speakers[0].request, `[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","blob":"aGk="}}]`, `[{"type":"text","text":"` + "```\\nhi\\n```" + `"}]`},
		"PH-05 messages: a sound has no place":     {speakers[0].words, speakers[0].request, `[` + sound + `]`, `"Tool executed successfully."`},
		"PH-05 responses: a sound has no place":    {speakers[2].words, speakers[2].request, `[` + sound + `]`, `"Tool executed successfully."`},
		"PH-05 messages: a picture nobody reads":   {speakers[0].words, speakers[0].request, `[{"type":"image","data":"AAAA","mimeType":"image/svg+xml"}]`, `"Tool executed successfully."`},
		"PH-04 messages: an empty list":            {speakers[0].words, speakers[0].request, `[ ]`, `"Tool executed successfully."`},
		"PH-04 completions: an empty list":         {speakers[1].words, speakers[1].request, `[]`, `"Tool executed successfully."`},
		"PH-04 responses: an empty list":           {speakers[2].words, speakers[2].request, `[]`, `"Tool executed successfully."`},
		"messages: its own image":                  {speakers[0].words, speakers[0].request, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"},"annotations":{"priority":1}}]`, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`},
		"messages: marks stay":                     {speakers[0].words, speakers[0].request, `[{"type":"resource","cache_control":{"type":"ephemeral"},"resource":{"uri":"a:b","text":"x"}}]`, `[{"type":"text","text":"` + "```\\nx\\n```" + `","cache_control":{"type":"ephemeral"}}]`},
		"messages: within a document":              {speakers[0].words, speakers[0].request, `[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a","annotations":{"priority":1}},{"type":"text","text":"secret","annotations":{"audience":["user"]}}]}}]`, `[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"}]}}]`},
		"PH-01 messages: all of a document":        {speakers[0].words, speakers[0].request, `[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"secret","annotations":{"audience":["user"]}}]}}]`, `"Tool executed successfully."`},
		"messages: a kind that is new":             {speakers[0].words, speakers[0].request, `[{"type":"novelty","mimeType2":1}]`, `[{"type":"novelty","mimeType2":1}]`},
		"gemini: what is said again goes too":      {speakers[3].words, `{"contents":[{"parts":[{"functionResponse":{"name":"n","response":%s}}]}]}`, `{"content":[{"type":"text","text":"secret","annotations":{"audience":["user"]}}],"structuredContent":{"a":"secret"},"_meta":{}}`, `{"content":"Tool executed successfully.","_meta":{}}`},
		"gemini: a response that is a block":       {speakers[3].words, `{"contents":[{"parts":[{"functionResponse":{"name":"n","response":%s}}]}]}`, `{"type":"text","text":"secret","annotations":{"audience":["user"]}}`, `{"output":"Tool executed successfully."}`},
		"gemini: a result within":                  {speakers[3].words, `{"contents":{"parts":{"functionResponse":{"name":"n","response":%s}}}}`, `{"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"secret","annotations":{"audience":["user"]}}]}}`, `{"result":{"content":[{"type":"text","text":"a"}]}}`},
		"gemini: what only looks like annotations": {speakers[3].words, `{"contents":[{"parts":[{"functionResponse":{"name":"n","response":%s}}]}]}`, `{"annotations":{"audience":["general"]},"type":"map","mimeType":"a/b"}`, `{"annotations":{"audience":["general"]},"type":"map","mimeType":"a/b"}`},
		"gemini: counted":                          {speakers[3].words, `{"generateContentRequest":{"contents":[{"parts":[{"functionResponse":{"name":"n","response":{"error":%s}}}]}]}}`, `[{"type":"text","text":"secret","annotations":{"audience":["user"]}}]`, `"Tool failed."`},
		"gemini: media beside":                     {speakers[3].words, `{"contents":[{"parts":[{"functionResponse":{"parts":%s,"name":"n","response":{"output":"a"}}}]}]}`, `[{"inlineData":{"mimeType":"image/png","data":"c2VjcmV0"},"annotations":{"audience":["user"]}}]`, `[]`},
		"gemini: media beside that stay":           {speakers[3].words, `{"contents":[{"parts":[{"functionResponse":{"parts":%s,"name":"n","response":{"output":"a"}}}]}]}`, `[{"inlineData":{"mimeType":"image/png","data":"AAAA"},"annotations":{"audience":["assistant"]}}]`, `[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(fmt.Sprintf(c.request, c.want), withheld(c.words, fmt.Sprintf(c.request, c.content))); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("gemini: media beside nothing", func(t *testing.T) {
		body := `{"contents":[{"parts":[{"functionResponse":{"parts":[{"inlineData":{"data":"c2VjcmV0"},"annotations":{"audience":"user"}}],"name":"n","response":{ }}}]}]}`
		want := `{"contents":[{"parts":[{"functionResponse":{"parts":[],"name":"n","response":{"output":"Tool executed successfully."}}}]}]}`
		if diff := cmp.Diff(want, withheld(&gemini.Audience, body)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFence(t *testing.T) {
	for name, c := range map[string]struct{ mime, text, want string }{
		"BLK-07 rust":                {"text/x-rust", "fn", "```rust\nfn\n```"},
		"BLK-07 no type":             {"", "fn\n", "```\nfn\n```"},
		"BLK-07 an unknown type":     {"application/x-novel", "fn", "```\nfn\n```"},
		"BLK-07 a type with members": {"application/vnd.api+json; charset=utf-8", "{}", "```json\n{}\n```"},
		"BLK-07 a fence within":      {"text/markdown", "```go\nx\n```", "````markdown\n```go\nx\n```\n````"},
		"BLK-07 a longer one":        {"", "`````", "``````\n`````\n``````"},
		"BLK-07 no text":             {"", "", "```\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, audience.Fence(c.mime, c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The call that a result answers is as it was, and so is all that stands beside.
func TestAudienceLeavesTheRest(t *testing.T) {
	const hidden = `[{"type":"text","text":"secret","annotations":{"audience":["user"]}}]`
	for name, of := range map[string]int{"PH-03 messages": 0, "PH-03 completions": 1, "PH-03 responses": 2, "PH-03 gemini": 3, "AUD-13 what the model has asked for": 0} {
		t.Run(name, func(t *testing.T) {
			d := speakers[of]
			body := fmt.Sprintf(d.request, hidden)
			want := strings.Replace(body, hidden, `"Tool executed successfully."`, 1)
			if diff := cmp.Diff(want, withheld(d.words, body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// BLK-08: a result that is a text alone is one block of text in a dialect that has
// blocks; BLK-12: and one whose call is nowhere never gets an empty name.
func TestResultsOfOldAndOfNobody(t *testing.T) {
	t.Run("BLK-08 a text becomes a block", func(t *testing.T) {
		c, err := completions.DecodeRequest([]byte(fmt.Sprintf(speakers[1].request, `"flat"`)), "")
		if err != nil {
			t.Fatal(err)
		}
		body, err := anthropic.EncodeRequest(c, "anthropic", nil)
		if want := `"content":[{"type":"text","text":"flat"}]`; err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s, %v, want %s", body, err, want)
		}
	})
	t.Run("BLK-12 gemini: a call that was never seen", func(t *testing.T) {
		c, err := completions.DecodeRequest([]byte(`{"model":"m","messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":"nowhere","content":"flat"}]}`), "")
		if err != nil {
			t.Fatal(err)
		}
		var losses rewrite.Losses
		body, err := gemini.EncodeRequest(c, "google", &losses)
		if err != nil || strings.Contains(string(body), "functionResponse") || len(losses.All) == 0 || !strings.Contains(string(body), "flat") {
			t.Errorf("%s, %v, %v", body, losses.All, err)
		}
	})
}

// A result is known again by what it says, however its members stand, and whatever
// marks it has.
func TestAudienceKeys(t *testing.T) {
	key := func(content string) [16]byte {
		t.Helper()
		changes, err := anthropic.Audience.Find([]byte(fmt.Sprintf(speakers[0].request, content)))
		if len(changes) != 1 || err != nil {
			t.Fatalf("%d changes in %s: %v", len(changes), content, err)
		}
		return changes[0].Key
	}
	first := key(`[{"type":"text","text":"a/b","annotations":{"audience":["user"]}}]`)
	for _, again := range []string{
		`[ {"annotations":{"audience":["user"]},"text":"a\/b","type":"text"} ]`,
		`[{"type":"text","text":"a/b","cache_control":{"type":"ephemeral"},"annotations":{"audience":["user"]}}]`,
	} {
		if key(again) != first {
			t.Errorf("%s is another", again)
		}
	}
	for _, other := range []string{
		`[{"type":"text","text":"a/c","annotations":{"audience":["user"]}}]`,
		`[{"type":"text","text":"a/b","annotations":{"audience":["assistant"]}}]`,
		`[{"type":"text","text":"a/b","annotations":{"audience":["user"]}},"x"]`,
	} {
		if key(other) == first {
			t.Errorf("%s is the same", other)
		}
	}
}

// FuzzAudience holds that whatever a request is, one that is JSON stays so, and that a
// text that stands nowhere but in blocks for people stands nowhere in the end.
func FuzzAudience(f *testing.F) {
	const secret = "FOR-PEOPLE-ALONE"
	for i, d := range speakers {
		for _, c := range resultCases {
			f.Add(uint8(i), []byte(fmt.Sprintf(d.request, c.content)), false)
		}
		for _, c := range packedCases {
			f.Add(uint8(i), []byte(fmt.Sprintf(d.request, quoted(c.text))), false)
		}
		f.Add(uint8(i), []byte(`{"type":"text","text":"a"}`), true)
		f.Add(uint8(i), []byte(`{"input":[{"type":"function_call","call_id":"c","name":"mcp__a__b"},{"type":"function_call_output","call_id":"c","output":"x\\n[{\"type\":\"text\",\"text\":\"\",\"annotations\":{\"audience\":\"user\"}}]"}]}`), false)
		f.Add(uint8(i), []byte(`{"a":[{}],"type":"resource","resource":{"uri":"","text":"`+"```"+`"}}`), true)
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte, within bool) {
		d := speakers[int(which)%len(speakers)]
		body := text
		if within {
			if splice.Valid(text) != nil || bytes.Contains(text, []byte(secret)) {
				return
			}
			hidden := `{"text":"` + secret + `","annotations":{"audience":["user"]},"type":"text"}`
			body = fmt.Appendf(nil, d.request, `[`+hidden+`,`+string(text)+`,`+hidden+`,{"annotations":{"audience":"user"},"type":"image","mimeType":"image/png","data":"`+secret+`"}]`)
		}
		if splice.Valid(body) != nil {
			if changes, _ := d.words.Find(body); splice.ValidDeep(body) != nil && len(changes) > 0 {
				t.Fatalf("changes in %q, which is no JSON", body)
			}
			return
		}
		got := withheld(d.words, string(body))
		if err := splice.Valid([]byte(got)); err != nil {
			t.Fatalf("%s became %s: %v", body, got, err)
		}
		if within && strings.Contains(got, secret) {
			t.Fatalf("it stands in %s", got)
		}
		if again := withheld(d.words, got); again != got {
			t.Fatalf("%s became %s and then %s", body, got, again)
		}
	})
}

// BenchmarkAudience is what a request costs that has nothing for people, and one that
// has.
func BenchmarkAudience(b *testing.B) {
	const round = `,{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c","name":"read","input":{"path":"a.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"%s"}%s]}]}`
	file := strings.Repeat(`\tif err != nil {\n\t\treturn \"so\", fmt.Errorf(\"x: %w\", err)\n\t}\n`, 70)
	for name, more := range map[string]string{"nothing": "", "annotated": `,{"type":"text","text":"for you","annotations":{"audience":["user"]}}`} {
		var body bytes.Buffer
		body.WriteString(`{"model":"m","messages":[{"role":"user","content":"go"}`)
		for body.Len() < 1<<20 {
			fmt.Fprintf(&body, round, file, more)
		}
		body.WriteString(`]}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(body.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if found, err := anthropic.Audience.Find(body.Bytes()); (len(found) > 0) != (more != "") || err != nil {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
