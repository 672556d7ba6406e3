package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

type encoder interface {
	Append(dst []byte, e *rewrite.Event) []byte
}

type decoder interface {
	Event(name, data []byte, yield func(*rewrite.Event))
	Close(yield func(*rewrite.Event))
}

// streams are the dialects in which a stream has all that a whole reply has, in
// the same order. Chat Completions has no order between a message's members, and
// tells the last of them last.
var streams = map[rewrite.Dialect]func() (encoder, decoder){
	rewrite.Messages: func() (encoder, decoder) {
		return anthropic.NewEncoder(anthropic.EncoderOptions{}), anthropic.NewDecoder("gateway")
	},
	rewrite.Gemini: func() (encoder, decoder) {
		return gemini.NewEncoder(gemini.EncoderOptions{}), gemini.NewDecoder("gateway")
	},
	rewrite.Responses: func() (encoder, decoder) {
		return responses.NewEncoder(responses.EncoderOptions{}), responses.NewDecoder("gateway")
	},
}

// A client of any dialect reads the same of a reply as a stream and as a whole,
// whoever has made it.
func TestStreamsAcrossDialects(t *testing.T) {
	asText := cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })
	for from, replies := range wholes(t) {
		for name, whole := range replies {
			for to, open := range streams {
				t.Run(from.String()+" to "+to.String()+"/"+name, func(t *testing.T) {
					var made rewrite.Fold
					if err := codecs[from].decodeReply([]byte(whole), "home", made.Add); err != nil {
						t.Fatal(err)
					}
					reply := made.Reply()
					e, d := open()
					var stream []byte
					reply.Tell(func(event *rewrite.Event) { stream = e.Append(stream, event) })

					var told, read rewrite.Fold
					var s sse.Splitter
					hear := func(event sse.Event) { d.Event(event.Name, event.Data, told.Add) }
					s.Feed(stream, hear)
					s.Close(hear)
					d.Close(told.Add)
					if err := codecs[to].decodeReply(codecs[to].encodeReply(reply), "gateway", read.Add); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(read.Reply(), told.Reply(), asText); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// Errors in mid-stream keep what a client needs to know of them, whoever's words
// they come in.
func TestFaultsAcrossDialects(t *testing.T) {
	for word, want := range map[string]map[rewrite.Dialect]string{
		"throttlingException":         {rewrite.Messages: "rate_limit_error", rewrite.Gemini: "RESOURCE_EXHAUSTED"},
		"validationException":         {rewrite.Messages: "invalid_request_error", rewrite.Gemini: "INVALID_ARGUMENT"},
		"serviceUnavailableException": {rewrite.Messages: "overloaded_error", rewrite.Gemini: "UNAVAILABLE"},
		"modelStreamErrorException":   {rewrite.Messages: "api_error", rewrite.Gemini: "INTERNAL"},
	} {
		for to, status := range want {
			t.Run(word+" to "+to.String(), func(t *testing.T) {
				e, _ := streams[to]()
				out := e.Append(nil, &rewrite.Event{Kind: rewrite.EventError, Fault: &rewrite.Fault{Type: word, Message: "it broke"}})
				if !strings.Contains(string(out), `"`+status+`"`) || !strings.Contains(string(out), "it broke") {
					t.Errorf("want %s: %s", status, out)
				}
			})
		}
	}
}
