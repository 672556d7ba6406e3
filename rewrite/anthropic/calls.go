package anthropic

import (
	"bytes"
	"encoding/json"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// MaxArguments bounds the arguments of all calls of one reply that Arguments
// keeps, in bytes. Those of a reply with more are not kept.
const MaxArguments = 64 << 10

// Arguments collects the arguments of the calls in a stream as the provider
// spells them. Libraries decode and encode them again, and what they make of them
// reaches the model as another text. The zero Arguments is ready.
type Arguments struct {
	calls []call
	size  int
}

// call is one call: its block's index and id, and its arguments so far.
type call struct {
	index int64
	id    string
	input []byte
}

// Read takes an event of a stream. One that is no part of a call costs a look at
// its name and beginning.
func (a *Arguments) Read(name, data []byte) {
	if len(name) == 0 {
		name = kindOf(data)
	}
	switch string(name) {
	case "content_block_start":
		a.start(data)
	case "content_block_delta":
		if len(a.calls) > 0 && bytes.Contains(data[:min(len(data), 128)], []byte("input_json_delta")) {
			a.delta(data)
		}
	}
}

// start takes the beginning of a block. Most calls begin without arguments.
func (a *Arguments) start(data []byte) {
	var block []byte
	var c call
	if !splice.Fields(data, func(name, value []byte) bool {
		switch string(name) {
		case "index":
			c.index, _ = splice.Int(value)
		case "content_block":
			block = value
		}
		return true
	}) {
		return
	}
	id, input := callOf(block)
	if len(id) == 0 {
		return
	}
	if c.id = splice.Text(id); !splice.Empty(input) {
		c.input = a.add(nil, input)
	}
	a.calls = append(a.calls, c)
}

func (a *Arguments) delta(data []byte) {
	index, piece := int64(-1), []byte(nil)
	splice.Fields(data, func(name, value []byte) bool {
		switch string(name) {
		case "index":
			index, _ = splice.Int(value)
		case "delta":
			splice.Fields(value, func(name, value []byte) bool {
				if string(name) == "partial_json" {
					piece, _ = splice.String(value)
				}
				return true
			})
		}
		return true
	})
	for i := range a.calls {
		if c := &a.calls[i]; c.index == index {
			c.input = a.add(c.input, piece)
		}
	}
}

// add appends a piece within the bound.
func (a *Arguments) add(to, piece []byte) []byte {
	if a.size += len(piece); a.size > MaxArguments {
		return nil
	}
	return append(to, piece...)
}

// Whole takes a whole reply.
func (a *Arguments) Whole(reply []byte) {
	eachCall(reply, func(id string, input rewrite.Span) {
		a.calls = append(a.calls, call{id: id, input: a.add(nil, reply[input.Start:input.End])})
	})
}

// All calls yield with the id and the arguments of each call of which libraries
// may spell these otherwise.
func (a *Arguments) All(yield func(id string, arguments []byte)) {
	if a.size > MaxArguments {
		return
	}
	for _, c := range a.calls {
		if canonical, ok := canonicalValue(c.input); ok && !spelledOneWay(canonical) {
			yield(c.id, c.input)
		}
	}
}

// callOf gives the id of a call, as it stands in it, and its arguments; the id of
// any other block is empty.
func callOf(block []byte) (id, input []byte) {
	kind := ""
	splice.Fields(block, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			kind = splice.Text(value)
		case "id":
			id = value
		case "input":
			input = value
		}
		return true
	})
	if !isCall(kind) {
		return nil, nil
	}
	return id, input
}

// isCall reports the type of a block that has arguments.
func isCall(kind string) bool {
	return kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use"
}

// eachCall calls yield with the id of each call in a message or reply, and where
// its arguments stand.
func eachCall(message []byte, yield func(id string, arguments rewrite.Span)) {
	f := borrow(message)
	defer f.release()
	var m continuity.Message
	f.message(&m, func(b block) {
		if isCall(string(b.kind)) && len(b.id) > 0 && b.input.Len() > 0 {
			yield(string(b.id), b.input)
		}
	})
}

// CallIDs are the ids of the calls in a message.
func CallIDs(message []byte) (ids []string) {
	eachCall(message, func(id string, _ rewrite.Span) { ids = append(ids, id) })
	return ids
}

// AsMade gives a message with the arguments of its calls as the provider has
// spelled them, by the id of the call, where these are the same written
// otherwise. It is nil if nothing is.
func AsMade(message []byte, made map[string][]byte) []byte {
	var edits []splice.Edit
	eachCall(message, func(id string, input rewrite.Span) {
		if was, now := made[id], message[input.Start:input.End]; respelt(was, now) {
			edits = append(edits, splice.Edit{Span: input, Text: was})
		}
	})
	if len(edits) == 0 {
		return nil
	}
	return splice.Apply(nil, message, edits)
}

// respelt reports two spellings of the same value that differ in more than white
// space.
func respelt(a, b []byte) bool {
	x, ok := canonicalValue(a)
	if !ok {
		return false
	}
	y, ok := canonicalValue(b)
	if !ok || !bytes.Equal(x, y) {
		return false
	}
	var p, q bytes.Buffer
	return json.Compact(&p, a) == nil && json.Compact(&q, b) == nil && !bytes.Equal(p.Bytes(), q.Bytes())
}

// canonicalValue gives a JSON value in canonical form.
func canonicalValue(value []byte) (canonical []byte, ok bool) {
	if splice.Valid(value) != nil {
		return nil, false
	}
	f := borrow(value)
	defer f.release()
	f.value()
	return bytes.Clone(f.out), f.msg == ""
}

// ExactHash is the Exact of a message by itself. A text that is no message has
// none.
func ExactHash(message []byte) continuity.Hash {
	f := borrow(message)
	defer f.release()
	var m continuity.Message
	f.space()
	start := f.begin()
	if f.message(&m, nil); f.msg != "" {
		return continuity.Hash{}
	}
	_, exact := f.end(start)
	return exact
}

// Ends reports an event behind which no more blocks come.
func Ends(name, data []byte) bool {
	if len(name) == 0 {
		name = kindOf(data)
	}
	return string(name) == "message_delta" || string(name) == "message_stop"
}
