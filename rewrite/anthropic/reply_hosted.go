package anthropic

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// madeSearch begins the identifiers of searches that other providers ran, as the
// client is shown them. They are for people: what their providers need back travels
// beside them, so they are left out when they come back.
const madeSearch = "srvtoolu_wp_"

// shows reports whether the client is shown an activity of another provider's as
// the dialect's own: a search that has found something, before the answer.
func shows(item *rewrite.Item) bool {
	h := &item.Hosted
	return item.Kind == rewrite.ItemHosted && h.Name == "web_search" && h.State == rewrite.HostedCompleted && len(h.Sources) > 0 && !dispensable(&item.Payload)
}

// searchID is the identifier of a search that is shown.
func searchID(h *rewrite.Hosted) string {
	return madeSearch + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, h.ID)
}

// query is what was searched for, as the tool's input, from what its provider was
// asked.
func query(h *rewrite.Hosted, asked []byte) []byte {
	text := h.Summary
	splice.Fields(asked, func(name, value []byte) bool {
		switch string(name) {
		case "query", "q":
			text = splice.Text(value)
		case "queries":
			splice.Elements(value, func(first []byte) bool {
				text = splice.Text(first)
				return false
			})
		}
		return true
	})
	var w splice.Writer
	w.Open('{')
	w.Name("query")
	w.String(text)
	w.Close('}')
	return w.Bytes()
}

// writeSearchCall writes the call of a search that is shown.
func writeSearchCall(w *splice.Writer, h *rewrite.Hosted, input []byte) {
	w.Open('{')
	w.Text("type", "server_tool_use")
	w.Text("id", searchID(h))
	w.Text("name", "web_search")
	w.Value("input", input)
	w.Close('}')
}

// writeSearchResult writes what it found.
func writeSearchResult(w *splice.Writer, h *rewrite.Hosted) {
	w.Open('{')
	w.Text("type", "web_search_tool_result")
	w.Text("tool_use_id", searchID(h))
	w.Name("content")
	w.Open('[')
	for i := range h.Sources {
		plain := rewrite.Payload{Format: plainSource, Value: rewrite.JSON("null")}
		w.Open('{')
		w.Text("type", "web_search_result")
		w.Name("url")
		w.String(h.Sources[i].URL)
		w.Name("title")
		w.String(or(h.Sources[i].Title, h.Sources[i].URL))
		w.Text("encrypted_content", plain.Envelope())
		w.Literal(`"page_age":null`)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}

// search sends a search that is shown. Some providers tell what was asked for when
// it begins only.
func (n *Encoder) search(item *rewrite.Item) {
	h := &item.Hosted
	if len(h.Input) > 0 {
		n.asked = append(n.asked[:0], h.Input...)
	}
	if h.State == rewrite.HostedStarted || !shows(item) {
		return
	}
	input := query(h, n.asked)
	n.asked = n.asked[:0]
	w := n.blockStart()
	writeSearchCall(&w, h, []byte("{}"))
	n.send(&w)
	n.delta("input_json_delta", "partial_json", input)
	n.stop()
	n.single(func(w *splice.Writer) { writeSearchResult(w, h) })
}

// writeSearch writes a search that is shown. It gives what one that has only begun
// was asked.
func writeSearch(w *splice.Writer, item *rewrite.Item, asked []byte, o EncoderOptions) []byte {
	h := &item.Hosted
	if item.Kind != rewrite.ItemHosted || item.Payload.For(o.Provider, rewrite.Messages) {
		return asked
	}
	if len(h.Input) > 0 {
		asked = h.Input
	}
	if h.State == rewrite.HostedStarted || !shows(item) {
		return asked
	}
	writeSearchCall(w, h, query(h, asked))
	writeSearchResult(w, h)
	return nil
}

// unseen notes an activity of another provider's, which the client is not shown.
func (o *EncoderOptions) unseen(item *rewrite.Item) {
	if item.Kind == rewrite.ItemHosted && item.Hosted.State != rewrite.HostedStarted && !shows(item) {
		o.Losses.Add("reply", item.Hosted.Name+" is not shown, only what came of it")
	}
}

// isShown reports a step of a search that the client was only shown.
func isShown(b *wireBlock) bool {
	return strings.HasPrefix(b.text(fieldID), madeSearch) || strings.HasPrefix(b.text(fieldCallID), madeSearch)
}
