package relay

import (
	"warmpath/cache/verdicts"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// audiences are how results of tools stand in the requests of clients.
var audiences = [...]*audience.Words{
	rewrite.Messages:    &anthropic.Audience,
	rewrite.Completions: &completions.Audience,
	rewrite.Responses:   &responses.Audience,
	rewrite.Gemini:      &gemini.Audience,
	rewrite.Converse:    nil, // no client speaks it
}

// withhold leaves out of a request what tools have meant for people alone, and what
// they say of their blocks, before anything else looks at it. What was decided of a
// result when it was first sent is done again. A request without such is returned as it
// is.
func (x *exchange) withhold(body []byte) ([]byte, *rewrite.Failure) {
	words := audiences[x.req.Dialect]
	if words == nil {
		return body, nil
	}
	changes, err := words.Find(body)
	if err != nil {
		return nil, badJSON(err)
	}
	if len(changes) == 0 {
		return body, nil
	}
	var edits []splice.Edit
	grown := int64(len(body))
	for i, filter := range x.decide(body, changes) {
		if filter {
			edits = append(edits, changes[i].Edits...)
		}
	}
	if len(edits) == 0 {
		return body, nil
	}
	for _, edit := range edits {
		grown += int64(len(edit.Text) - edit.Len())
	}
	if !x.room.take(grown) {
		return nil, noRoom(errNoRoom)
	}
	return splice.Apply(nil, body, edits), nil
}

// decide says of each result whether it is filtered: as the route wants it now, or as
// it was when the result was first sent. What is sent for the first time is counted.
func (x *exchange) decide(body []byte, changes []audience.Change) []bool {
	policy := verdicts.Pass
	if x.settings.Catalog.Route(x.asksModel(body)).Audience {
		policy = verdicts.Filter
	}
	filter := make([]bool, len(changes))
	keys := make([][16]byte, len(changes))
	for i := range changes {
		filter[i], keys[i] = policy == verdicts.Filter, changes[i].Key
	}
	sends := x.req.Operation == OpGenerate || x.req.Operation == OpCompact
	first := func(int) bool { return sends }
	if kept := x.settings.Verdicts; kept != nil {
		// Without the store it is as the route wants it: that is counted by its guard.
		decided, err := kept.Decide(x.ctx, x.req.tenant(), keys, policy, x.record.Arrived)
		if err == nil && sends {
			_ = kept.Keep(x.ctx, decided)
		}
		for i, verdict := range decided.Verdicts {
			filter[i] = verdict == verdicts.Filter
		}
		first = func(i int) bool { return sends && decided.New[i] }
	}
	for i := range changes {
		if filter[i] && first(i) {
			x.countWithheld(&changes[i])
		}
	}
	return filter
}

// asksModel is the model as the client has written it.
func (x *exchange) asksModel(body []byte) string {
	if x.req.Model != "" {
		return x.req.Model
	}
	return splice.PeekModel(body).Model
}

func (x *exchange) countWithheld(c *audience.Change) {
	m := x.relay.metrics
	m.BlocksDropped("user_only", c.UserOnly)
	m.BlocksDropped("unknown", c.Unknown)
	m.BlocksDropped("unsupported", c.Unsupported)
	if c.Placeholder {
		m.Placeheld()
	}
}
