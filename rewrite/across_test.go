package rewrite_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// codec is what every dialect has for the hub. One that no client speaks has no
// half for clients.
type codec struct {
	decodeRequest func(body []byte, provider string) (*rewrite.Conversation, error)
	encodeRequest func(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error)
	decodeReply   func(body []byte, provider string, yield func(*rewrite.Event)) error
	encodeReply   func(r *rewrite.Reply) []byte
	// echo is the next request of a client who got a reply.
	echo func(reply string) string
}

var codecs = map[rewrite.Dialect]codec{
	rewrite.Messages: {
		anthropic.DecodeRequest, anthropic.EncodeRequest, anthropic.DecodeReply,
		func(r *rewrite.Reply) []byte { return anthropic.EncodeReply(nil, r, anthropic.EncoderOptions{}) },
		func(reply string) string {
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` + gjson.Get(reply, "content").Raw + `},{"role":"user","content":"on"}]}`
		},
	},
	rewrite.Gemini: {
		gemini.DecodeRequest, gemini.EncodeRequest, gemini.DecodeReply,
		func(r *rewrite.Reply) []byte { return gemini.EncodeReply(nil, r, gemini.EncoderOptions{}) },
		func(reply string) string {
			return `{"contents":[{"role":"user","parts":[{"text":"hi"}]},` + gjson.Get(reply, "candidates.0.content").Raw + `,{"role":"user","parts":[{"text":"on"}]}]}`
		},
	},
	rewrite.Responses: {
		responses.DecodeRequest, responses.EncodeRequest, responses.DecodeReply,
		func(r *rewrite.Reply) []byte { return responses.EncodeReply(nil, r, responses.EncoderOptions{}) },
		func(reply string) string {
			output := gjson.Get(reply, "output").Raw
			if output = output[1 : len(output)-1]; output != "" {
				output += ","
			}
			return `{"model":"m","input":[{"role":"user","content":"hi"},` + output + `{"role":"user","content":"on"}]}`
		},
	},
	rewrite.Converse: {nil, converse.EncodeRequest, converse.DecodeReply, nil, nil},
	rewrite.Completions: {
		completions.DecodeRequest, completions.EncodeRequest, completions.DecodeReply,
		func(r *rewrite.Reply) []byte { return completions.EncodeReply(nil, r, completions.EncoderOptions{}) },
		func(reply string) string {
			return `{"model":"m","messages":[{"role":"user","content":"hi"},` + gjson.Get(reply, "choices.0.message").Raw + `,{"role":"user","content":"on"}]}`
		},
	},
}

// wholes are whole replies by the dialect of their providers.
func wholes(t *testing.T) map[rewrite.Dialect]map[string]string {
	t.Helper()
	out := map[rewrite.Dialect]map[string]string{}
	for dialect, in := range map[rewrite.Dialect]struct{ files, section string }{
		rewrite.Messages:  {"anthropic/testdata/replies/*.txt", "whole"},
		rewrite.Gemini:    {"gemini/testdata/replies/*.txt", "whole"},
		rewrite.Converse:  {"converse/testdata/replies/*.txt", "whole"},
		rewrite.Responses: {"responses/testdata/streams/*.txt", "reply"},
	} {
		paths, err := filepath.Glob(in.files)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d, %v", in.files, len(paths), err)
		}
		out[dialect] = map[string]string{}
		for _, path := range paths {
			if whole, ok := show.Load(t, path).Section(in.section); ok {
				out[dialect][filepath.Base(path)] = whole
			}
		}
	}
	return out
}

// closed are the payloads that a client has to bring back. One of Messages or
// Responses is given no thought behind the answer, which Gemini does not insist on.
func closed(items []rewrite.Item, client rewrite.Dialect) (values [][]byte) {
	if client == rewrite.Messages || client == rewrite.Responses {
		end := len(items)
		for end > 0 && (items[end-1].Payload.Format == "gemini/thought" && len(items[end-1].Parts) == 0 || items[end-1].Payload.Format == "gemini/grounding") {
			end--
		}
		if end > 0 && items[end-1].Kind == rewrite.ItemMessage {
			items = items[:end]
		}
	}
	for i := range items {
		item := &items[i]
		switch item.Kind {
		case rewrite.ItemReasoning, rewrite.ItemHosted, rewrite.ItemOpaque:
			if p := &item.Payload; !p.Empty() && p.Format != "gemini/grounding" && p.Format != "gemini/url_context" {
				values = append(values, p.Value)
			}
		case rewrite.ItemCall:
			if bytes.Contains(item.Payload.Value, []byte("ignature")) {
				values = append(values, item.Payload.Value)
			}
		}
	}
	return values
}

// Whatever dialect a client speaks, it brings back what its provider needs, and
// the provider gets that byte for byte (PP-01, RP-01); another provider of any
// dialect gets none of it (RP-02).
func TestPayloadsAcrossDialects(t *testing.T) {
	brought := map[rewrite.Dialect]int{}
	for from, replies := range wholes(t) {
		for name, whole := range replies {
			for to, client := range codecs {
				if to == from || client.encodeReply == nil {
					continue
				}
				t.Run("PP-01 RP-01 RP-02 "+from.String()+" to "+to.String()+"/"+name, func(t *testing.T) {
					var fold rewrite.Fold
					if err := codecs[from].decodeReply([]byte(whole), "home", fold.Add); err != nil {
						t.Fatal(err)
					}
					r := fold.Reply()
					reply := client.encodeReply(r)
					if err := splice.Valid(reply); err != nil {
						t.Fatalf("%v: %s", err, reply)
					}
					c, err := client.decodeRequest([]byte(client.echo(string(reply))), "away")
					if err != nil {
						t.Fatalf("%v\n%s", err, reply)
					}
					body, err := codecs[from].encodeRequest(c, "home", nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, value := range closed(r.Items, to) {
						brought[from]++
						if !bytes.Contains(body, value) {
							t.Errorf("%s\nis not in\n%s", value, body)
						}
					}
					for other, codec := range codecs {
						body, err := codec.encodeRequest(c, "other", nil)
						if err != nil {
							t.Fatal(err)
						}
						for _, value := range closed(r.Items, from) {
							if bytes.Contains(body, value) {
								t.Errorf("another provider of %s gets\n%s\nin\n%s", other, value, body)
							}
						}
					}
				})
			}
		}
	}
	if len(brought) < 4 {
		t.Errorf("payloads came back to %v only", brought)
	}
}
