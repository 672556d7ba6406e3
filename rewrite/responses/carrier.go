package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Every client brings reasoning back with its encrypted content. What else has
// to come back, and has no place of its own in the dialect, travels in there:
// such a carrier is an item of reasoning whose payload is of this provider, who
// makes none himself.
const (
	ownProvider = "warmpath"
	// carriedItem holds an item in the form that it has for all providers.
	carriedItem = "warmpath/item"
	// carriedPart holds the payload of the item before it, or of the call that it
	// names.
	carriedPart = "warmpath/payload"
)

// carried takes what a carrier holds. What an unknown version of ours has made
// is as if lost.
func (r *requestReader) carried(at rewrite.Path, p *rewrite.Payload) *fault {
	switch p.Format {
	case carriedItem:
		item, f := r.reader.item(p.Value)
		if f != nil {
			return f.in("encrypted_content")
		}
		item.Path = at
		r.c.Items = append(r.c.Items, item)
	case carriedPart:
		var id string
		var held []byte
		splice.Fields(p.Value, func(key, value []byte) bool {
			switch string(key) {
			case "id":
				id = splice.Text(value)
			case "payload":
				held = value
			}
			return true
		})
		payload, ok := payloadOf(held)
		if !ok {
			return bad("encrypted_content", "holds no payload; send it as it came")
		}
		r.attach(id, payload)
	}
	return nil
}

// attach gives a payload back to the item that it belongs to.
func (r *requestReader) attach(id string, p rewrite.Payload) {
	for i := len(r.c.Items) - 1; i >= 0; i-- {
		item := &r.c.Items[i]
		switch {
		case id != "" && item.Kind == rewrite.ItemCall && item.Call.ID == id,
			id == "" && item.Kind == rewrite.ItemMessage && item.Role == rewrite.RoleAssistant:
			item.Payload = p
			return
		case item.Kind == rewrite.ItemResult || item.Kind == rewrite.ItemMessage && item.Role == rewrite.RoleUser:
			i = 0 // the turn begins behind it
		}
	}
	if id != "" { // the call is still to come
		if r.owed == nil {
			r.owed = map[string]rewrite.Payload{}
		}
		r.owed[id] = p
	}
}

// owe gives a call the payload that went ahead of it.
func (r *requestReader) owe(call *rewrite.Item) {
	if p, ok := r.owed[call.Call.ID]; ok && call.Call.ID != "" {
		call.Payload = p
		delete(r.owed, call.Call.ID)
	}
}

// carrier is the encrypted content that holds something of ours.
func carrier(format string, value []byte) string {
	p := rewrite.Payload{Provider: ownProvider, Format: format, Version: "1", Value: value}
	return p.Envelope()
}

// writePayload writes a payload as an object.
func writePayload(w *splice.Writer, p *rewrite.Payload) {
	w.Open('{')
	w.Text("provider", p.Provider)
	w.Text("format", p.Format)
	w.Text("version", p.Version)
	w.Value("value", p.Value)
	w.Close('}')
}
