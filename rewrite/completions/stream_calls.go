package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// callFields are the members of a piece of a call.
type callFields struct {
	index, id, kind, name, arguments []byte
	custom, other                    bool
}

func (c *callFields) read(value []byte) {
	inner := func(key, value []byte) bool {
		switch string(key) {
		case "name":
			c.name = value
		case "arguments", "input":
			c.arguments = value
		}
		return true
	}
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "index":
			c.index = value
		case "id":
			c.id = value
		case "type":
			c.kind = value
		case "function":
			splice.Fields(value, inner)
		case "custom":
			c.custom = c.custom || !splice.Null(value)
			splice.Fields(value, inner)
		default:
			c.other = c.other || !splice.Null(value)
		}
		return true
	})
}

// call goes on with a call. The first piece says who is called; servers that
// leave out the index begin a call with every new name of one.
func (d *Decoder) call(value []byte, yield func(*rewrite.Event)) {
	var c callFields
	c.read(value)
	id := splice.Text(c.id)
	i := d.findCall(&c, id)
	if i < 0 {
		if i = d.openCall(&c, id, yield); i < 0 {
			return
		}
	}
	o := &d.open[i]
	if c.other && splice.Valid(value) == nil {
		o.extra = clone(value)
	}
	text, ok := splice.AppendText(d.text[:0], c.arguments)
	if d.text = text; !ok {
		// An object is what it is.
		if text = c.arguments; splice.Null(text) || splice.Valid(text) != nil {
			return
		}
	}
	if len(text) > 0 {
		o.text = append(o.text, text...)
		d.tell(yield, rewrite.Event{Kind: rewrite.EventArguments, Index: o.index, Text: text})
	}
}

// findCall is the open call that a piece belongs to, or -1.
func (d *Decoder) findCall(c *callFields, id string) int {
	place, known := splice.Int(c.index)
	for i := len(d.open) - 1; i >= 0; i-- {
		o := &d.open[i]
		switch {
		case known && o.place == int(place):
			if id != "" && o.id != "" && id != o.id && !splice.Empty(c.name) {
				// Some servers count all their calls as the first.
				continue
			}
			return i
		case !known && (id == "" || id == o.id):
			return i
		}
	}
	return -1
}

// openCall opens a call; -1 for a piece of one that nobody has begun.
func (d *Decoder) openCall(c *callFields, id string, yield func(*rewrite.Event)) int {
	name := splice.Text(c.name)
	if name == "" {
		return -1
	}
	d.closeThought(yield)
	d.closeSaid(yield)
	place, known := splice.Int(c.index)
	if !known {
		place = int64(len(d.open))
	}
	o := calling{place: int(place), id: id}
	if id == "" {
		id = d.nameless(len(d.open))
	}
	o.call = rewrite.Call{ID: id, Name: name, Custom: c.custom || string(c.kind) == `"custom"`}
	o.index = d.item(&rewrite.Item{Kind: rewrite.ItemCall, Call: o.call}, yield)
	d.open = append(d.open, o)
	return len(d.open) - 1
}

// closeCalls closes all calls.
func (d *Decoder) closeCalls(yield func(*rewrite.Event)) {
	for i := range d.open {
		o := &d.open[i]
		last := rewrite.Item{Kind: rewrite.ItemCall, Call: o.call}
		if o.extra != nil {
			last.Payload = d.payload("tool_call", o.whole())
		}
		d.tell(yield, rewrite.Event{Kind: rewrite.EventDone, Index: o.index, Item: &last})
	}
	d.open = nil
}

// whole is a call as it goes back: what the server has hung on to it, with all of
// its arguments.
func (o *calling) whole() []byte {
	var w splice.Writer
	w.Open('{')
	w.Name("id")
	w.String(o.call.ID)
	kind, input := "function", "arguments"
	if o.call.Custom {
		kind, input = "custom", "input"
	}
	w.Text("type", kind)
	w.Name(kind)
	w.Open('{')
	w.Text("name", o.call.Name)
	w.Name(input)
	w.Bytestring(o.text)
	w.Close('}')
	splice.Fields(o.extra, func(key, value []byte) bool {
		switch string(key) {
		case "index", "id", "type", "function", "custom":
		default:
			w.Value(string(key), value)
		}
		return true
	})
	w.Close('}')
	return w.Bytes()
}
