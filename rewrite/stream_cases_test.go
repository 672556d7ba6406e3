package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

// messagesStream are the steps of a stream of Messages, a line of data for each.
func messagesStream(lines ...string) string {
	var b strings.Builder
	for _, line := range append([]string{`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`}, lines...) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		b.WriteString("event: " + kind + "\ndata: " + line + "\n\n")
	}
	return b.String()
}

// Steps of a stream of Messages.
const (
	textBegins  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}`
	textGoesOn  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It rains. "}}`
	textIsCited = `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"rain","url":"https://a.test","title":"A","encrypted_index":"Eo8"}}}`
	citedAgain  = `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"snow","url":"https://b.test","title":"B","encrypted_index":"Eo9"}}}`
	textEnds    = `{"type":"content_block_stop","index":0}`
	nextBegins  = `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`
	nextIsCited = `{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"snow","url":"https://b.test","title":"B","encrypted_index":"Eo9"}}}`
	turnEnds    = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}`
	turnRefuses = `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null},"usage":{"output_tokens":9}}`
	streamEnds  = `{"type":"message_stop"}`
	callBegins  = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"orbit","input":{}}}`
	callGoesOn  = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"body\": \"io\", \"secret\""}}`
	thinks      = `{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}`
	thinksOn    = `{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"Hm."}}`
	thinksSign  = `{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"EqQ"}}`
	searchOpens = `{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`
	searchAsks  = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}}`
	searchEnds  = `{"type":"content_block_stop","index":1}`
)

// leftOf is what is left of a reply, a line for each thing: items, parts and
// sources, and whether each is whole.
func leftOf(r *rewrite.Reply) (lines string) {
	cut := func(is bool) string {
		if is {
			return " cut"
		}
		return ""
	}
	for i := range r.Items {
		item := &r.Items[i]
		lines += item.Kind.String() + cut(item.Incomplete)
		if item.Kind == rewrite.ItemHosted {
			lines += " " + item.Hosted.State.String()
		}
		if !item.Payload.Empty() {
			lines += " sealed"
		}
		lines += "\n"
		for _, part := range item.Parts {
			lines += "  " + strings.TrimSpace(part.Text) + "\n"
			for _, a := range part.Attributions {
				lines += "  - " + a.URL + cut(a.Incomplete) + "\n"
			}
		}
	}
	return lines + "stop " + r.Stop.Reason.String() + "\n"
}

// What is left of a stream, wherever it ends.
func TestWhatIsLeftOfAStream(t *testing.T) {
	unknown := rewrite.StopUnknown.String()
	for _, c := range []struct {
		name   string
		stream []string
		want   string
	}{
		{"ST-01 text, source, text, source, stop", []string{textBegins, textGoesOn, textIsCited, textGoesOn, citedAgain, textEnds, turnEnds, streamEnds}, "message\n  It rains. It rains.\n  - https://a.test\n  - https://b.test\nstop stop\n"},
		{"ST-02 cut after the first source", []string{textBegins, textGoesOn, textIsCited, textGoesOn}, "message cut\n  It rains. It rains.\n  - https://a.test cut\nstop " + unknown + "\n"},
		{"ST-03 cut before any source", []string{textBegins, textGoesOn}, "message cut\n  It rains.\nstop " + unknown + "\n"},
		{"ST-04 cut in the next block", []string{textBegins, textGoesOn, textIsCited, textEnds, nextBegins, nextIsCited}, "message cut\n  It rains.\n  - https://a.test\n  \n  - https://b.test cut\nstop " + unknown + "\n"},
		{"ST-05 cut before a thought is whole", []string{textBegins, textGoesOn, textIsCited, textEnds, thinks, thinksOn, thinksSign}, "message\n  It rains.\n  - https://a.test\nreasoning cut\n  Hm.\nstop " + unknown + "\n"},
		{"ST-06 cut within a call", []string{textBegins, textGoesOn, textEnds, callBegins, callGoesOn}, "message\n  It rains.\ncall cut\nstop " + unknown + "\n"},
		{"ST-07 a source of a block that was never opened", []string{nextIsCited, textBegins, textGoesOn, textEnds, turnEnds, streamEnds}, "message\n  It rains.\nstop stop\n"},
		{"ST-07 a source of a block that is closed", []string{textBegins, textGoesOn, textEnds, textIsCited, turnEnds, streamEnds}, "message\n  It rains.\nstop stop\n"},
		// [decide: what has been said on the way to a refusal has reached the client, and
		// a gateway cannot unsay it. It stays, and the stop tells what became of it; the
		// provider's own client decides the same.]
		{"ST-09 refused on the way", []string{textBegins, textGoesOn, textEnds, searchOpens, searchAsks, searchEnds, turnRefuses, streamEnds}, "message\n  It rains.\nhosted started sealed\nstop refusal\n"},
		{"ST-11 cut while a search is open", []string{textBegins, textGoesOn, textEnds, searchOpens, searchAsks, searchEnds}, "message\n  It rains.\nhosted started sealed\nstop " + unknown + "\n"},
		{"ST-11 cut while a search is asked", []string{textBegins, textGoesOn, textEnds, searchOpens}, "message\n  It rains.\nhosted cut started\nstop " + unknown + "\n"},
		{"ST-12 no end", []string{textBegins, textGoesOn, textEnds, turnEnds}, "message\n  It rains.\nstop " + unknown + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := crossers[rewrite.Messages].folded(messagesStream(c.stream...), "maker")
			if diff := cmp.Diff(c.want, leftOf(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// writers write streams for clients of each dialect.
var writers = map[rewrite.Dialect]func() encoder{
	rewrite.Messages:    func() encoder { return anthropic.NewEncoder(anthropic.EncoderOptions{}) },
	rewrite.Completions: func() encoder { return completions.NewEncoder(completions.EncoderOptions{}) },
	rewrite.Responses:   func() encoder { return responses.NewEncoder(responses.EncoderOptions{}) },
	rewrite.Gemini:      func() encoder { return gemini.NewEncoder(gemini.EncoderOptions{}) },
}

// A call that was cut is never told as one that is to be run, to a client of any
// dialect, and what came before it is.
func TestCutCallsAreNotTold(t *testing.T) {
	for to, client := range crossers {
		if client.stream == nil {
			continue
		}
		t.Run("ST-06 PB-26 to "+to.String(), func(t *testing.T) {
			e := writers[to]()
			var out []byte
			take := func(event *rewrite.Event) { out = e.Append(out, event) }
			crossers[rewrite.Messages].tell(messagesStream(textBegins, textGoesOn, textEnds, callBegins, callGoesOn), "maker", take)
			take(&rewrite.Event{Kind: rewrite.EventError, Fault: &rewrite.Fault{Type: "api_error", Message: "closed the stream"}})
			text := string(out)
			if !strings.Contains(text, "It rains.") || !strings.Contains(text, "closed the stream") {
				t.Errorf("the client is not told what was said, and what went wrong: %s", text)
			}
			for _, done := range []string{"message_stop", `"stop_reason":"tool_use"`, "function_call_arguments.done", "response.completed", `"finish_reason":"tool_calls"`, "[DONE]\n\nx", `"functionCall"`, `"finishReason"`} {
				if strings.Contains(text, done) {
					t.Errorf("%s stands in %s", done, text)
				}
			}
		})
	}
}

// ST-08: a text of white space alone is not sent to a provider that refuses such,
// and its sources go with it.
func TestSourcesOfNothing(t *testing.T) {
	t.Run("ST-08 a blank text with a source", func(t *testing.T) {
		c := conversing(&rewrite.Reply{Items: []rewrite.Item{{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{
			{Text: " \n", Attributions: []rewrite.Attribution{{URL: "https://a.test", Payload: rewrite.Payload{Provider: "maker", Format: "messages/citation", Value: rewrite.JSON(`{"type":"web_search_result_location","url":"https://a.test"}`)}}}}, {Text: "It rains."},
		}}}})
		body, err := crossers[rewrite.Messages].encodeRequest(c, "maker", nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(body); strings.Contains(text, "https://a.test") || strings.Contains(text, `" \n"`) || !strings.Contains(text, "It rains.") {
			t.Errorf("sent is %s", text)
		}
	})
}

// A second attempt is another reply: nothing of the first is in it.
func TestAttemptsAreApart(t *testing.T) {
	t.Run("ST-10 the second attempt", func(t *testing.T) {
		first := crossers[rewrite.Messages].folded(messagesStream(textBegins, textGoesOn, textIsCited), "maker")
		second := crossers[rewrite.Messages].folded(messagesStream(textBegins, textGoesOn, citedAgain, textEnds, turnEnds, streamEnds), "maker")
		if diff := cmp.Diff("message cut\n  It rains.\n  - https://a.test cut\nstop "+rewrite.StopUnknown.String()+"\n", leftOf(first)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff("message\n  It rains.\n  - https://b.test\nstop stop\n", leftOf(second)); diff != "" {
			t.Error(diff)
		}
	})
}

// stepsOf are the steps of a stream that comes in pieces.
func stepsOf(d rewrite.Dialect, pieces ...string) string {
	var b strings.Builder
	take := func(e *rewrite.Event) { b.WriteString(show.Event(e)) }
	decoder, s := crossers[d].decoder("maker"), sse.Splitter{Bare: true}
	read := func(e sse.Event) { decoder.Event(e.Name, e.Data, take) }
	for _, piece := range pieces {
		s.Feed([]byte(piece), read)
	}
	s.Close(read)
	decoder.Close(take)
	return b.String()
}

// However the network cuts a stream, and whatever else of an event stream's grammar
// it uses, it tells the same.
func TestStreamsTellTheSame(t *testing.T) {
	for d, cases := range hostedCases {
		c := &cases[0]
		stream := c.stream(t, d)
		want := stepsOf(d, stream)
		t.Run("ST-13 PB-25 "+d.String(), func(t *testing.T) {
			if got := stepsOf(d, strings.Split(stream, "")...); got != want {
				t.Errorf("a character at a time: %s", cmp.Diff(want, got))
			}
			for i := range len(stream) {
				if got := stepsOf(d, stream[:i], stream[i:]); got != want {
					t.Fatalf("cut at %d: %s", i, cmp.Diff(want, got))
				}
			}
		})
		t.Run("ST-14 "+d.String(), func(t *testing.T) {
			// What other texts take for the end of a line is none here.
			if got := stepsOf(d, strings.ReplaceAll(stream, "The an", "The\u2028an")); strings.NewReplacer(`\u2028`, " ", "\u2028", " ").Replace(got) != want {
				t.Errorf("a separator in a text: %s", got)
			}
			crlf := strings.ReplaceAll(stream, "\n", "\r\n")
			for name, other := range map[string]string{
				"both line ends":       crlf,
				"carriage returns":     strings.ReplaceAll(stream, "\n", "\r"),
				"comments":             ": hi\n\n" + strings.ReplaceAll(stream, "\n\n", "\n\n: OPENROUTER PROCESSING\n\n"),
				"no space":             strings.ReplaceAll(stream, "data: ", "data:"),
				"data in lines":        strings.ReplaceAll(stream, `data: {`, "data: {\ndata: "),
				"names nobody knows":   strings.ReplaceAll(stream, "\n\n", "\n\nevent: dream\ndata: {\"type\":\"dream\"}\n\n"),
				"other fields":         strings.ReplaceAll(stream, "data: ", "id: 1\nretry: 10\ndata: "),
				"a mark of byte order": "\ufeff" + stream,
				"all of it":            "\ufeff: hi\r\n\r\n" + strings.ReplaceAll(crlf, "data: {", "data:{\r\ndata:"),
			} {
				if d == rewrite.Gemini && name == "names nobody knows" {
					continue // its frames have no names
				}
				if got := stepsOf(d, other); got != want {
					t.Errorf("%s: %s", name, cmp.Diff(want, got))
				}
			}
		})
	}
}
