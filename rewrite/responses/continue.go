package responses

import (
	"bytes"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Names is what a request calls by a name instead of sending it, and whether its
// own reply is to get one.
type Names struct {
	// Previous is the reply that the request goes on from.
	Previous string
	// Input is the JSON of the request's own items, which may call some by their
	// names: see References. It shares memory with the request.
	Input []byte
	// Answered says that replies of the model stand among them.
	Answered bool
	// Keep says that the client does not forbid to keep the reply.
	Keep bool
	// Conversation says that the request belongs to a conversation that the provider
	// keeps.
	Conversation bool
}

// ReadNames reads the names in a body. What is no request has none.
func ReadNames(body []byte) Names {
	n := Names{Keep: true}
	splice.Fields(body, func(key, value []byte) bool {
		switch string(key) {
		case "previous_response_id":
			n.Previous = splice.Text(value)
		case "store":
			n.Keep = string(value) != "false"
		case "input":
			n.Input = value
		case "conversation":
			n.Conversation = !splice.Null(value)
		}
		return true
	})
	splice.Elements(n.Input, func(item []byte) bool {
		splice.Fields(item, func(key, value []byte) bool {
			n.Answered = n.Answered || string(key) == "role" && string(value) == `"assistant"` || string(key) == "type" && string(value) == `"function_call"`
			return !n.Answered
		})
		return !n.Answered
	})
	return n
}

// References are the items of replies of ours that an input calls by their names,
// in the order in which they stand.
func References(input []byte) (ids []string) {
	if !NamesOwn(input) {
		return nil
	}
	splice.Elements(input, func(item []byte) bool {
		if id := reference(item); ReplyOf(id) != "" {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// reference is the name of the item that stands elsewhere; empty for an item that
// stands here.
func reference(item []byte) string {
	var id string
	named := false
	if !splice.Fields(item, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			id = splice.Text(value)
		case "type":
			named = splice.Null(value) || string(value) == `"item_reference"`
			return named
		case "role", "content":
			named = false
			return false
		}
		named = true
		return true
	}) || !named {
		return ""
	}
	return id
}

// Own says that a reply's name was given here, so that no provider knows it.
func Own(name string) bool { return strings.HasPrefix(name, "resp"+madeHere) }

// ReplyOf is the name of the reply that an item belongs to, by the item's own;
// empty for items that were not made here.
func ReplyOf(item string) string {
	_, rest, found := strings.Cut(item, madeHere)
	end := strings.LastIndexByte(rest, '_')
	if !found || end <= 0 {
		return ""
	}
	return "resp" + madeHere + rest[:end]
}

// NamesOwn reports whether a request may call something by a name that was given
// here.
func NamesOwn(body []byte) bool { return bytes.Contains(body, []byte(madeHere)) }

// Asks reports whether a request asks for something of our own in its reply.
func Asks(body []byte) bool {
	if !bytes.Contains(body, []byte(`"`+ownMark)) {
		return false
	}
	own := false
	splice.Fields(body, func(key, value []byte) bool {
		if string(key) == "include" {
			splice.Elements(value, func(name []byte) bool {
				own = own || isOwn(splice.Text(name))
				return !own
			})
		}
		return !own
	})
	return own
}

// Extended reports whether a request has anything that is ours alone, and no
// provider knows: members, items, names that were given here, and results of tools
// in the blocks of the Model Context Protocol.
func Extended(body []byte) bool {
	blocks := bytes.Contains(body, []byte(`"output":[`)) || bytes.Contains(body, []byte(`"output": [`))
	if !blocks && !bytes.Contains(body, []byte(`"warmpath`)) && !NamesOwn(body) {
		return false
	}
	own := false
	splice.Fields(body, func(key, value []byte) bool {
		switch string(key) {
		case "warmpath":
			own = true
		case "include":
			splice.Elements(value, func(name []byte) bool {
				own = own || isOwn(splice.Text(name))
				return !own
			})
		case "input":
			own = own || blocks && hasBlocksWithin(value)
			splice.Elements(value, func(item []byte) bool {
				splice.Fields(item, func(key, value []byte) bool {
					own = own || string(key) == "type" && isOwn(splice.Text(value)) || string(key) == "id" && bytes.Contains(value, []byte(madeHere))
					return !own
				})
				return !own
			})
		}
		return !own
	})
	return own
}

// Past is a turn of a conversation: the input that came with its request, and the
// reply.
type Past struct{ Input, Reply []byte }

// Continue makes of a request that goes on from the turns of the past one that
// says all of them: their items stand before its own, each byte for byte. An item
// that is called by its name is put in its place, as find gives it; one that find
// does not know stays a name.
func Continue(body []byte, past []Past, find func(id string) []byte) []byte {
	var previous, input rewrite.Span
	if err := splice.Members(body, func(key []byte, at, value rewrite.Span) bool {
		switch string(key) {
		case "previous_response_id":
			previous = rewrite.Span{Start: at.Start, End: value.End}
		case "input":
			input = value
		}
		return true
	}); err != nil {
		return body
	}
	own := body[input.Start:input.End]
	if len(past) == 0 && (input.Len() == 0 || len(References(own)) == 0) {
		return body
	}
	items := allItems(past, own, find)
	if len(past) == 0 || previous.Len() == 0 {
		return splice.Apply(nil, body, []splice.Edit{{Span: input, Text: items}})
	}
	edits := []splice.Edit{{Span: previous, Text: []byte(`"previous_response_id":null`)}, {Span: input, Text: items}}
	switch {
	case input.Len() == 0:
		edits = []splice.Edit{{Span: previous, Text: append([]byte(`"input":`), items...)}}
	case input.Start < previous.Start:
		edits[0], edits[1] = edits[1], edits[0]
	}
	return splice.Apply(nil, body, edits)
}

// allItems are the items of turns and of an input behind them, as a list.
func allItems(past []Past, own []byte, find func(id string) []byte) []byte {
	var w splice.Writer
	w.Open('[')
	for i := range past {
		appendItems(&w, past[i].Input, find)
		splice.Fields(past[i].Reply, func(key, value []byte) bool {
			if string(key) == "output" {
				appendItems(&w, value, find)
			}
			return true
		})
	}
	appendItems(&w, own, find)
	w.Close(']')
	return w.Bytes()
}

// appendItems appends the items of an input: a string is what the user says.
func appendItems(w *splice.Writer, input []byte, find func(id string) []byte) {
	if splice.Null(input) {
		return
	}
	if !splice.Elements(input, func(item []byte) bool {
		if id := reference(item); id != "" {
			if there := find(id); there != nil {
				item = there
			}
		}
		w.Raw(item)
		return true
	}) {
		w.Literal(`{"type":"message","role":"user"`)
		w.Value("content", input)
		w.Close('}')
	}
}

// Item is the item of a name in a reply; nil if there is none.
func Item(reply []byte, name string) (found []byte) {
	splice.Fields(reply, func(key, value []byte) bool {
		if string(key) != "output" {
			return true
		}
		splice.Elements(value, func(item []byte) bool {
			splice.Fields(item, func(key, value []byte) bool {
				if string(key) == "id" && splice.Text(value) == name {
					found = item
				}
				return true
			})
			return found == nil
		})
		return true
	})
	return found
}
