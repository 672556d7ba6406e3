package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// What other providers made travels in reasoning_details, which clients of the
// routers that have them bring back unseen: an entry in a format of our own holds
// the payload of a piece of reasoning, of the call whose name it has, or an
// activity in the form that it has for all providers.
const (
	ownFormat   = "warmpath"
	ownActivity = "warmpath/hosted_activity"
)

// held is a payload on its way to the call that it belongs to.
type held struct {
	id      string
	payload rewrite.Payload
}

// reasoning appends what the model has thought before it said something, and
// gives the payloads of calls that are still to come.
func (r *requestReader) reasoning(m *messageFields) (calls []held, f *fault) {
	from := len(r.c.Items)
	var own splice.Writer
	own.Open('[')
	splice.Elements(m.details, func(entry []byte) bool {
		var format, id, data string
		splice.Fields(entry, func(key, value []byte) bool {
			switch string(key) {
			case "format":
				format = splice.Text(value)
			case "id":
				id = splice.Text(value)
			case "data":
				data = splice.Text(value)
			}
			return true
		})
		if format != ownFormat {
			own.Raw(entry)
			return true
		}
		p, ok := rewrite.OpenEnvelope(data)
		switch {
		case !ok || splice.Valid(p.Value) != nil:
			f = bad("reasoning_details", "was changed on its way; send it as it came")
			return false
		case p.Format == ownActivity:
			r.add(activityOf(p.Value))
		case id != "":
			calls = append(calls, held{id, p})
		default:
			r.add(rewrite.Item{Kind: rewrite.ItemReasoning, Path: r.at.In("reasoning_details"), Payload: p})
		}
		return true
	})
	details := own.Size() > 1
	own.Close(']')
	if f != nil {
		return nil, f
	}
	text, f := textOf(m.shown)
	if f != nil {
		return nil, f.in(m.shownAs)
	}
	r.shown(from, text, m, details, own.Bytes())
	return calls, nil
}

// shown gives the text of the reasoning to the piece that it is of: the first that
// another provider has made, of those from an index on, or one of the provider's
// own, which gets both members back.
func (r *requestReader) shown(from int, text string, m *messageFields, details bool, list []byte) {
	for i := from; text != "" && !details && i < len(r.c.Items); i++ {
		if item := &r.c.Items[i]; item.Kind == rewrite.ItemReasoning && item.Payload.Provider != r.provider {
			item.Parts = []rewrite.Part{{Text: text}}
			return
		}
	}
	if text == "" && !details {
		return
	}
	item := rewrite.Item{Kind: rewrite.ItemReasoning, Path: r.at.In("reasoning_details")}
	var w splice.Writer
	w.Open('{')
	if text != "" {
		item.Path = r.at.In(m.shownAs)
		item.Parts = []rewrite.Part{{Text: text}}
		w.Value(m.shownAs, m.shown)
	}
	if details {
		w.Value("reasoning_details", list)
	}
	w.Close('}')
	item.Payload = r.payload("reasoning", w.Bytes())
	r.add(item)
}

// attach gives a payload back to the call that it belongs to.
func (r *requestReader) attach(id string, p rewrite.Payload) {
	for i := len(r.c.Items) - 1; i >= 0; i-- {
		if item := &r.c.Items[i]; item.Kind == rewrite.ItemCall && item.Call.ID == id {
			item.Payload = p
			return
		}
	}
}

// activityOf reads an activity of another provider.
func activityOf(value []byte) rewrite.Item {
	item := rewrite.Item{Kind: rewrite.ItemHosted}
	h := &item.Hosted
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			h.ID = splice.Text(value)
		case "name":
			h.Name = splice.Text(value)
		case "summary":
			h.Summary = splice.Text(value)
		case "error_code":
			h.Error = splice.Text(value)
		case "input":
			h.Input = present(value)
		case "status":
			switch splice.Text(value) {
			case "completed":
				h.State = rewrite.HostedCompleted
			case "failed":
				h.State = rewrite.HostedFailed
			}
		case "payload":
			splice.Fields(value, func(key, value []byte) bool {
				switch string(key) {
				case "provider":
					item.Payload.Provider = splice.Text(value)
				case "format":
					item.Payload.Format = splice.Text(value)
				case "version":
					item.Payload.Version = splice.Text(value)
				case "value":
					item.Payload.Value = present(value)
				}
				return true
			})
		}
		return true
	})
	return item
}

// activity is what carries an activity.
func activity(item *rewrite.Item) string {
	h, p := &item.Hosted, &item.Payload
	var w splice.Writer
	w.Open('{')
	w.Text("id", h.ID)
	w.Text("name", h.Name)
	status := h.State.String()
	if h.State == rewrite.HostedStarted {
		status = "in_progress"
	}
	w.Text("status", status)
	if len(h.Input) > 0 && splice.Valid(h.Input) == nil {
		w.Value("input", h.Input)
	}
	w.Text("summary", h.Summary)
	w.Text("error_code", h.Error)
	if !p.Empty() {
		w.Name("payload")
		w.Open('{')
		w.Text("provider", p.Provider)
		w.Text("format", p.Format)
		w.Text("version", p.Version)
		w.Value("value", p.Value)
		w.Close('}')
	}
	w.Close('}')
	carried := rewrite.Payload{Provider: ownFormat, Format: ownActivity, Version: "1", Value: w.Bytes()}
	return carried.Envelope()
}
