package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// hosted reads an activity of the provider's own: what it was asked, how far it
// came, and what it found.
func (r reader) hosted(kind string, i *itemFields, item *rewrite.Item) {
	item.Kind = rewrite.ItemHosted
	h := &item.Hosted
	h.ID, h.Name = item.ID, capability(kind)
	if h.State = stateOf(i.status, i.failure); !splice.Null(i.failure) {
		h.Error = errorOf(i.failure)
	}
	h.Input, h.Sources = inputOf(kind, i), sourcesOf(i)
	h.Summary = summaryOf(kind, i)
}

// inputOf is what a hosted tool was called with, as JSON.
func inputOf(kind string, i *itemFields) rewrite.JSON {
	var w splice.Writer
	switch {
	case !splice.Null(i.action):
		return i.action
	case !splice.Null(i.queries):
		w.Open('{')
		w.Value("queries", i.queries)
	case !splice.Null(i.code):
		w.Open('{')
		w.Value("code", i.code)
	case kind == "mcp_call":
		if text, ok := splice.String(i.arguments); ok && splice.Valid(text) == nil {
			return text
		}
		return nil
	default:
		return present(i.arguments)
	}
	w.Close('}')
	return w.Bytes()
}

// summaryOf is a few words for people.
func summaryOf(kind string, i *itemFields) (summary string) {
	if kind == "mcp_call" {
		return splice.Text(i.serverLabel) + " " + splice.Text(i.name)
	}
	splice.Fields(i.action, func(key, value []byte) bool {
		switch string(key) {
		case "query", "url":
			summary = splice.Text(value)
		case "queries":
			splice.Elements(value, func(query []byte) bool {
				summary = splice.Text(query)
				return false
			})
		}
		return true
	})
	return summary
}

// sourcesOf is what a search has found.
func sourcesOf(i *itemFields) (all []rewrite.Attribution) {
	add := func(value []byte) bool {
		var a rewrite.Attribution
		splice.Fields(value, func(key, value []byte) bool {
			switch string(key) {
			case "url":
				a.URL = splice.Text(value)
			case "title", "filename":
				a.Title = splice.Text(value)
			case "text":
				a.Excerpt = splice.Text(value)
			}
			return true
		})
		all = append(all, a)
		return true
	}
	splice.Fields(i.action, func(key, value []byte) bool {
		if string(key) == "sources" {
			splice.Elements(value, add)
		}
		return true
	})
	splice.Elements(i.results, add)
	return all
}

// errorOf is the code of a failure, or what it says.
func errorOf(value []byte) string {
	if text := splice.Text(value); text != "" {
		return text
	}
	var kind, code, message string
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "code":
			code = splice.Text(value)
		case "message":
			message = splice.Text(value)
		}
		return true
	})
	for _, word := range [...]string{code, kind, message} {
		if word != "" {
			return word
		}
	}
	return "failed"
}

// readActivity reads an activity in the form that it has for all providers.
func readActivity(i *itemFields, item *rewrite.Item) *fault {
	item.Kind = rewrite.ItemHosted
	h := &item.Hosted
	h.ID, h.Name, h.Summary = splice.Text(i.id), splice.Text(i.name), splice.Text(i.summary)
	h.Input, h.Error = present(i.input), splice.Text(i.errorCode)
	item.ID = ""
	switch splice.Text(i.status) {
	case "in_progress":
	case "completed":
		h.State = rewrite.HostedCompleted
	case "failed":
		h.State = rewrite.HostedFailed
	default:
		return bad("status", "is none of in_progress, completed and failed")
	}
	if splice.Null(i.payload) {
		return nil
	}
	var ok bool
	if item.Payload, ok = payloadOf(i.payload); !ok {
		return bad("payload", "lacks a provider, a format or a value; send it as it came, or leave it out")
	}
	return nil
}
