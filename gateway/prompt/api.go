package prompt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
)

// Request is a request to the API of prompts, without its HTTP: the same is answered
// on the admin listener and on that of clients.
type Request struct {
	Who Who
	// Method is that of HTTP, and Path what follows the name of the collection: empty,
	// /stream, /ID or /ID/answer.
	Method, Path string
	// Query is the raw query: conversation and state select prompts.
	Query string
	// ContentType and Body are what was sent along.
	ContentType string
	Body        []byte
	// Origin, FetchSite and Host are the headers by which a browser says on whose
	// behalf it asks; empty where there are none.
	Origin, FetchSite, Host string
}

// Response is what is answered: Stream, or a Body of JSON. Allow lists the methods
// where the status is 405.
type Response struct {
	Status int
	Body   []byte
	Allow  string
	Stream *Stream
}

// The statuses of the API.
const (
	statusOK            = 200
	statusForbidden     = 403
	statusNotFound      = 404
	statusMethod        = 405
	statusConflict      = 409
	statusGone          = 410
	statusUnsupported   = 415
	statusUnprocessable = 422
	statusUnavailable   = 503
)

// Serve answers a request to the API.
func (b *Book) Serve(ctx context.Context, r *Request) Response {
	id, rest, deeper := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	answers := deeper && rest == "answer"
	wanted := "GET"
	if answers {
		wanted = "POST"
	}
	switch {
	case deeper && !answers || strings.HasSuffix(r.Path, "/"):
		return refusal(statusNotFound, "there is nothing here: prompts are listed at the collection, streamed at /stream, and answered at /ID/answer")
	case r.Method != wanted:
		response := refusal(statusMethod, "only "+wanted+" is answered here")
		response.Allow = wanted
		return response
	case r.fromElsewhere():
		return refusal(statusForbidden, "a page of another origin can neither see prompts nor answer them")
	case answers:
		return b.serveAnswer(ctx, id, r)
	}
	query, err := url.ParseQuery(r.Query)
	if err != nil {
		return refusal(statusUnprocessable, "the query cannot be read")
	}
	filter := Filter{Who: r.Who, Conversation: query.Get("conversation"), State: query.Get("state")}
	switch id {
	case "":
		return reply(struct {
			Prompts []View `json:"prompts"`
		}{b.List(filter)})
	case "stream":
		return Response{Status: statusOK, Stream: newStream(b.Subscribe(filter))}
	}
	view, err := b.Get(r.Who, id)
	if err != nil {
		return refused(err)
	}
	return reply(view)
}

func (b *Book) serveAnswer(ctx context.Context, id string, r *Request) Response {
	kind, _, _ := strings.Cut(r.ContentType, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		// A form of any page could send anything else.
		return refusal(statusUnsupported, "send the answer as application/json")
	}
	answer, err := ParseReply(r.Body)
	if err == nil {
		err = b.Answer(ctx, r.Who, id, answer)
	}
	if err != nil {
		return refused(err)
	}
	return reply(struct {
		ID       string `json:"id"`
		Accepted bool   `json:"accepted"`
	}{id, true})
}

// fromElsewhere reports whether a browser asks on behalf of a page of another origin.
// What is no browser says nothing of the kind.
func (r *Request) fromElsewhere() bool {
	switch r.FetchSite {
	case "":
	case "same-origin", "none":
		return false
	default:
		return true
	}
	if r.Origin == "" {
		return false
	}
	_, host, _ := strings.Cut(r.Origin, "://")
	return host == "" || !strings.EqualFold(host, r.Host)
}

func reply(v any) Response {
	body, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an answer that is no JSON: " + err.Error())
	}
	return Response{Status: statusOK, Body: append(body, '\n')}
}

func refusal(status int, message string) Response {
	r := reply(struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}{struct {
		Message string `json:"message"`
	}{message}})
	r.Status = status
	return r
}

// refused is the response to what an answer has failed with.
func refused(err error) Response {
	problem, isInvalid := IsInvalid(err)
	switch {
	case isInvalid:
		return refusal(statusUnprocessable, problem)
	case errors.Is(err, ErrAnswered):
		return refusal(statusConflict, err.Error())
	case errors.Is(err, ErrGone):
		return refusal(statusGone, err.Error())
	case errors.Is(err, ErrUnreachable):
		return refusal(statusUnavailable, err.Error())
	}
	return refusal(statusNotFound, err.Error())
}

// appendEvent writes an event of the stream.
func appendEvent(dst []byte, e Event) []byte {
	var data any = struct {
		Prompt View `json:"prompt"`
	}{e.Prompt}
	name := "opened"
	if e.Closed {
		name = "closed"
		data = struct {
			ID      string `json:"id"`
			Outcome string `json:"outcome"`
			By      string `json:"by,omitempty"`
		}{e.Prompt.ID, e.Prompt.State, e.Prompt.By}
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic("BUG: an event that is no JSON: " + err.Error())
	}
	dst = append(dst, "event: "+name+"\ndata: "...)
	dst = append(dst, bytes.ReplaceAll(text, []byte("\n"), []byte(" "))...)
	return append(dst, "\n\n"...)
}
