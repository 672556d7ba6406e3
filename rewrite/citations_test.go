package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// citedText has characters of one to four bytes, and one that is made of two.
const citedText = "é🙂 Zu\u0308rich is [1] on [ref_2] a lake."

// citing is a source as a provider names it for citedText.
type citing struct {
	name string
	d    rewrite.Dialect
	// source is an element of the provider's list of sources, or what stands beside
	// the text.
	source string
	// want is what is read: kind, range, address, title and excerpt.
	want string
}

var citings = []citing{
	{"of a search", rewrite.Messages, `{"type":"web_search_result_location","cited_text":"It lies\u2026","url":"https://a.test","title":"A","encrypted_index":"Eo8+/="}`, `web_search_result_location 0-0 https://a.test "A" "It lies…"`},
	{"of characters of a document", rewrite.Messages, `{"type":"char_location","cited_text":"lake","document_index":0,"document_title":"D","start_char_index":3,"end_char_index":7,"file_id":null}`, `char_location 0-0  "D" "lake"`},
	{"of pages", rewrite.Messages, `{"type":"page_location","cited_text":"lake","document_index":0,"document_title":"D","start_page_number":1,"end_page_number":2}`, `page_location 0-0  "D" "lake"`},
	{"of blocks", rewrite.Messages, `{"type":"content_block_location","cited_text":"lake","document_index":0,"document_title":"D","start_block_index":0,"end_block_index":1}`, `content_block_location 0-0  "D" "lake"`},
	{"of the client's results", rewrite.Messages, `{"type":"search_result_location","cited_text":"lake","search_result_index":0,"source":"https://b.test","title":"B","start_block_index":0,"end_block_index":1}`, `search_result_location 0-0 https://b.test "B" "lake"`},
	{"of a kind nobody knows yet", rewrite.Messages, `{"type":"dream_location","cited_text":"lake","url":"https://c.test","sheep":1.50}`, `dream_location 0-0 https://c.test "" "lake"`},

	{"of an address", rewrite.Responses, `{"type":"url_citation","url":"https://a.test","title":"A","start_index":3,"end_index":10}`, `url_citation 3-10 https://a.test "A" ""`},
	{"RG-09 up to one behind the end", rewrite.Responses, `{"type":"url_citation","url":"https://a.test","title":"A","start_index":0,"end_index":37}`, `url_citation 0-36 https://a.test "A" ""`},
	{"RG-09 out of the text", rewrite.Responses, `{"type":"url_citation","url":"https://a.test","title":"A","start_index":3,"end_index":99}`, `url_citation 0-0 https://a.test "A" ""`},
	{"RG-09 that ends before it begins", rewrite.Responses, `{"type":"url_citation","url":"https://a.test","title":"A","start_index":9,"end_index":3}`, `url_citation 0-0 https://a.test "A" ""`},
	{"without a range", rewrite.Responses, `{"type":"url_citation","url":"https://a.test"}`, `url_citation 0-0 https://a.test "" ""`},
	{"of a file", rewrite.Responses, `{"type":"file_citation","file_id":"f","filename":"a.txt","index":3}`, `file_citation 0-0  "a.txt" ""`},
	{"of a file in a container", rewrite.Responses, `{"type":"container_file_citation","container_id":"c","file_id":"f","filename":"b.txt","start_index":3,"end_index":10}`, `container_file_citation 3-10  "b.txt" ""`},
	{"of a path", rewrite.Responses, `{"type":"file_path","file_id":"f","index":3}`, `file_path 0-0  "" ""`},

	{"in bytes", rewrite.Gemini, `"groundingChunks":[{"web":{"uri":"https://a.test","title":"a.test"}}],"groundingSupports":[{"segment":{"startIndex":7,"endIndex":15,"text":"Zu\u0308rich"},"groundingChunkIndices":[0]}]`, `web 3-10 https://a.test "a.test" ""`},
	{"from the beginning, in bytes", rewrite.Gemini, `"groundingChunks":[{"web":{"uri":"https://a.test","title":"a.test"}}],"groundingSupports":[{"segment":{"endIndex":6,"text":"é🙂"},"groundingChunkIndices":[0]}]`, `web 0-2 https://a.test "a.test" ""`},
	{"RG-09 within a character", rewrite.Gemini, `"groundingChunks":[{"web":{"uri":"https://a.test","title":"a.test"}}],"groundingSupports":[{"segment":{"startIndex":1,"endIndex":6},"groundingChunkIndices":[0]}]`, `web 0-0 https://a.test "a.test" ""`},
	{"RG-07 RG-09 of other text", rewrite.Gemini, `"groundingChunks":[{"web":{"uri":"https://a.test","title":"a.test"}}],"groundingSupports":[{"segment":{"startIndex":7,"endIndex":15,"text":"Geneva"},"groundingChunkIndices":[0]}]`, `web 0-0 https://a.test "a.test" ""`},
	{"that stands elsewhere", rewrite.Gemini, `"groundingChunks":[{"web":{"uri":"https://a.test","title":"a.test"}}],"groundingSupports":[{"segment":{"startIndex":1,"endIndex":9,"text":"Zu\u0308rich"},"groundingChunkIndices":[0]}]`, `web 3-10 https://a.test "a.test" ""`},
	{"of files", rewrite.Gemini, `"groundingChunks":[{"retrievedContext":{"uri":"gs://b/a","title":"a.txt","text":"lake"}}],"groundingSupports":[{"segment":{"startIndex":7,"endIndex":15},"groundingChunkIndices":[0]}]`, `retrievedContext 3-10 gs://b/a "a.txt" "lake"`},
	{"of maps", rewrite.Gemini, `"groundingChunks":[{"maps":{"uri":"https://maps.test","title":"Lake","placeId":"p"}}],"groundingSupports":[{"segment":{"startIndex":7,"endIndex":15},"groundingChunkIndices":[0]}]`, `maps 3-10 https://maps.test "Lake" ""`},

	{"of the web", rewrite.Converse, `{"title":"A","location":{"web":{"url":"https://a.test","domain":"a.test"}},"sourceContent":[{"text":"la"},{"text":"ke"}]}`, `web 0-0 https://a.test "A" "lake"`},
	{"of characters of a document", rewrite.Converse, `{"title":"D","location":{"documentChar":{"documentIndex":0,"start":1,"end":5}},"sourceContent":[{"text":"lake"}]}`, `documentChar 0-0  "D" "lake"`},
	{"of pages", rewrite.Converse, `{"title":"D","location":{"documentPage":{"documentIndex":0,"start":1,"end":2}},"sourceContent":[{"text":"lake"}]}`, `documentPage 0-0  "D" "lake"`},
	{"of chunks", rewrite.Converse, `{"title":"D","location":{"documentChunk":{"documentIndex":0,"start":1,"end":2}},"sourceContent":[{"text":"lake"}]}`, `documentChunk 0-0  "D" "lake"`},
	{"of the client's results", rewrite.Converse, `{"title":"B","source":"https://b.test","location":{"searchResultLocation":{"searchResultIndex":0,"start":0,"end":1}},"sourceContent":[{"text":"lake"}]}`, `searchResultLocation 0-0 https://b.test "B" "lake"`},

	{"nested, with an excerpt", rewrite.Completions, `"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.test","title":"A","content":"lake","start_index":3,"end_index":10}}]`, `url_citation 3-10 https://a.test "A" "lake"`},
	{"RG-09 nested, out of the text", rewrite.Completions, `"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.test","title":"A","start_index":30,"end_index":50}}]`, `url_citation 0-0 https://a.test "A" ""`},
	{"that the text refers to by number", rewrite.Completions, `beside "citations":["https://a.test"]`, ` 14-17 https://a.test "" ""`},
	{"that the text refers to by number, with a title", rewrite.Completions, `beside "citations":["https://a.test"],"search_results":[{"title":"A","url":"https://a.test","date":"2026-11-01"}]`, ` 14-17 https://a.test "A" ""`},
	{"that the text refers to in words", rewrite.Completions, `beside "web_search":[{"title":"A","link":"https://a.test","content":"lake","refer":"ref_1"},{"title":"B","link":"https://b.test","content":"","refer":"ref_2"}]`, ` 14-17 https://a.test "A" "lake"` + "\n" + ` 21-28 https://b.test "B" ""`},
	{"that the text does not refer to", rewrite.Completions, `beside "citations":["https://a.test","https://b.test","https://c.test"]`, ` 14-17 https://a.test "" ""` + "\n" + ` 21-28 https://b.test "" ""` + "\n" + ` 0-0 https://c.test "" ""`},
}

// replies are the reply that has the source, streamed and whole.
func (c *citing) replies(t *testing.T) (streamed, whole *rewrite.Reply) {
	t.Helper()
	text := string(splice.AppendString(nil, citedText))
	half := strings.Index(citedText, "[1")
	first, second := string(splice.AppendString(nil, citedText[:half+2])), string(splice.AppendString(nil, citedText[half+2:]))
	var stream strings.Builder
	event := func(name, data string) { fmt.Fprintf(&stream, "event: %s\ndata: %s\n\n", name, data) }
	var body string
	switch c.d {
	case rewrite.Messages:
		body = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":` + text + `,"citations":[` + c.source + `]}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
		event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`)
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}`)
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+first+`}}`)
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":`+c.source+`}}`)
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+second+`}}`)
		event("content_block_stop", `{"type":"content_block_stop","index":0}`)
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`)
		event("message_stop", `{"type":"message_stop"}`)
	case rewrite.Responses:
		item := `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + text + `,"annotations":[` + c.source + `]}]}`
		body = `{"id":"resp_1","created_at":1,"model":"m","status":"completed","output":[` + item + `],"usage":{"input_tokens":1,"output_tokens":1}}`
		event("response.created", `{"type":"response.created","response":{"id":"resp_1","model":"m","created_at":1}}`)
		event("response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]}}`)
		event("response.content_part.added", `{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`)
		event("response.output_text.annotation.added", `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation_index":0,"annotation":`+c.source+`}`)
		event("response.output_text.delta", `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":`+text+`}`)
		event("response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`)
		event("response.completed", `{"type":"response.completed","response":`+body+`}`)
	case rewrite.Gemini:
		frame := func(part, rest string) string {
			return `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":` + part + `}]}` + rest + `}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"m","responseId":"r1"}`
		}
		end := `,"finishReason":"STOP","groundingMetadata":{` + c.source + `}`
		body = frame(text, end)
		event("", frame(first, ""))
		event("", frame(second, end))
	case rewrite.Converse:
		body = `{"output":{"message":{"role":"assistant","content":[{"citationsContent":{"content":[{"text":` + text + `}],"citations":[` + c.source + `]}}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`
		event("messageStart", `{"role":"assistant"}`)
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":`+first+`}}`)
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"citation":`+c.source+`}}`)
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":`+second+`}}`)
		event("contentBlockStop", `{"contentBlockIndex":0}`)
		event("messageStop", `{"stopReason":"end_turn"}`)
		event("metadata", `{"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`)
	default:
		inside, beside := "", ""
		if rest, ok := strings.CutPrefix(c.source, "beside "); ok {
			beside = "," + rest
		} else {
			inside = "," + c.source
		}
		head := `{"id":"r1","created":1,"model":"m"` + beside + `,"choices":[{"index":0,`
		body = head + `"message":{"role":"assistant","content":` + text + inside + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
		event("", head+`"delta":{"content":`+first+`},"finish_reason":null}]}`)
		event("", head+`"delta":{"content":`+second+inside+`},"finish_reason":null}]}`)
		event("", head+`"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
		event("", "[DONE]")
	}
	var f rewrite.Fold
	if err := crossers[c.d].decodeReply([]byte(body), "maker", f.Add); err != nil {
		t.Fatal(err)
	}
	return crossers[c.d].folded(strings.ReplaceAll(stream.String(), "event: \n", ""), "maker"), f.Reply()
}

// citedLines are the sources of a reply, a line for each.
func citedLines(r *rewrite.Reply) string {
	var lines []string
	for i := range r.Items {
		for _, part := range r.Items[i].Parts {
			for _, a := range part.Attributions {
				lines = append(lines, fmt.Sprintf("%s %d-%d %s %q %q", a.Kind, a.Start, a.End, a.URL, a.Title, a.Excerpt))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Every kind of source of every provider is read the same from a stream and from a
// whole reply; its range is of code points of the text, and one that is not in the
// text is none, while the source stays.
func TestCitationsAreRead(t *testing.T) {
	for i := range citings {
		c := &citings[i]
		t.Run(c.name+", "+c.d.String(), func(t *testing.T) {
			streamed, whole := c.replies(t)
			for name, r := range map[string]*rewrite.Reply{"streamed": streamed, "whole": whole} {
				if diff := cmp.Diff(c.want, citedLines(r)); diff != "" || !strings.HasPrefix(gist(r), citedText) {
					t.Errorf("%s: %s\n%s", name, diff, gist(r))
				}
			}
		})
	}
}

// How a client of each dialect sees the sources of a text: where it has no place
// for a range the whole text is cited. A source without an address is shown by its
// title, and told as a loss where the dialect cites addresses only.
func TestCitationsAreShown(t *testing.T) {
	length := len([]rune(citedText))
	for i := range citings {
		c := &citings[i]
		for to, client := range crossers {
			if client.stream == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s to %s", c.name, c.d, to), func(t *testing.T) {
				_, r := c.replies(t)
				if to == c.d {
					t.Skip("its own provider's words pass as they are")
				}
				var want []string
				hidden := 0
				for _, a := range r.Items[0].Parts[0].Attributions {
					if a.URL == "" && (to == rewrite.Completions || to == rewrite.Responses) {
						hidden++
						continue
					}
					if a.End <= a.Start || to == rewrite.Messages {
						a.Start, a.End = 0, length
					}
					want = append(want, fmt.Sprintf("%d-%d %s %q", a.Start, a.End, a.URL, a.Title))
				}
				for _, streams := range []bool{false, true} {
					var seen *rewrite.Reply
					if streams {
						seen = client.folded(string(client.stream(r)), home)
					} else {
						var f rewrite.Fold
						if err := client.decodeReply(client.whole(r), home, f.Add); err != nil {
							t.Fatal(err)
						}
						seen = f.Reply()
					}
					var got []string
					for i := range seen.Items {
						for _, part := range seen.Items[i].Parts {
							for _, a := range part.Attributions {
								if a.End <= a.Start {
									a.Start, a.End = 0, length
								}
								got = append(got, fmt.Sprintf("%d-%d %s %q", a.Start, a.End, a.URL, a.Title))
							}
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("streamed %v: %s", streams, diff)
					}
				}
				if lost := sourcesLost(r, to); lost != hidden {
					t.Errorf("%d sources are told to be lost, want %d", lost, hidden)
				}
			})
		}
	}
}

// sourcesLost is how many sources are told to be lost in a stream for a client.
func sourcesLost(r *rewrite.Reply, to rewrite.Dialect) (n int) {
	var losses rewrite.Losses
	switch to {
	case rewrite.Completions:
		appended(r, completions.NewEncoder(completions.EncoderOptions{Provider: home, Losses: &losses}).Append)
	case rewrite.Responses:
		appended(r, responses.NewEncoder(responses.EncoderOptions{Provider: home, Losses: &losses}).Append)
	}
	for _, loss := range losses.All {
		if loss.Why == "a source without an address" {
			n++
		}
	}
	return n
}

// A client of the normalized API that asks for more gets what stands in the source,
// what its provider wants back, and whether the text was cut before all sources
// were named; one that does not ask gets none of it.
func TestCitationsAreExtended(t *testing.T) {
	for i := range citings {
		c := &citings[i]
		t.Run(c.name+", "+c.d.String(), func(t *testing.T) {
			_, r := c.replies(t)
			if c.d == rewrite.Responses {
				t.Skip("its own provider's words pass as they are")
			}
			var want []*rewrite.Attribution
			for i, a := range r.Items[0].Parts[0].Attributions {
				if a.URL != "" {
					want = append(want, &r.Items[0].Parts[0].Attributions[i])
				}
			}
			for _, asks := range []bool{false, true} {
				for _, cut := range []bool{false, true} {
					for _, a := range want {
						a.Incomplete = cut
					}
					o := responses.EncoderOptions{Provider: home, Request: &rewrite.Conversation{Dialect: rewrite.Responses}}
					if asks {
						o.Request.Extensions = []string{"warmpath:excerpt", "warmpath:replay", "warmpath:incomplete"}
					}
					got := gjson.GetBytes(responses.EncodeReply(nil, r, o), `output.#(type=="message").content.0.annotations`).Array()
					if len(got) != len(want) {
						t.Fatalf("%d annotations for %d sources", len(got), len(want))
					}
					for i, a := range want {
						excerpt, replay, incomplete := got[i].Get("warmpath:excerpt").Str, got[i].Get("warmpath:replay.value").Raw, got[i].Get("warmpath:incomplete").Bool()
						if wanted := *a; !asks {
							if excerpt+replay != "" || incomplete {
								t.Errorf("nobody has asked for %s", got[i])
							}
						} else if excerpt != wanted.Excerpt || replay != string(wanted.Payload.Value) || incomplete != cut {
							t.Errorf("%s of %+v", got[i], wanted)
						}
					}
				}
			}
		})
	}
}
