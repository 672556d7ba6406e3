package relay

import (
	"cmp"
	"strings"

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

// sifting is what was decided of the results in a request. It is of consequence once a
// provider has accepted the request: what it has refused has never been sent.
type sifting struct {
	changes []audience.Change
	filter  []bool
	decided *verdicts.Decided // nil where nothing is remembered
}

// withhold leaves out of a request what tools have meant for people alone, and what
// they say of their blocks, before anything else looks at it. What was decided of a
// result when it was first sent is done again. A request without such is returned as it
// is.
func (x *exchange) withhold(body []byte) ([]byte, *sifting, *rewrite.Failure) {
	words := audiences[x.req.Dialect]
	if words == nil {
		return body, nil, nil
	}
	changes, err := words.Find(body)
	if err != nil {
		return nil, nil, badJSON(err)
	}
	if len(changes) == 0 {
		return body, nil, nil
	}
	s := x.sift(body, changes)
	var edits []splice.Edit
	size := int64(len(body))
	for i := range changes {
		if s.filter[i] {
			edits = append(edits, changes[i].Edits...)
		}
	}
	if len(edits) == 0 {
		return body, s, nil
	}
	for i := range edits {
		size += int64(len(edits[i].Text) - edits[i].Len())
	}
	if !x.room.take(size) {
		return nil, nil, noRoom(errNoRoom)
	}
	return splice.Apply(nil, body, edits), s, nil
}

// sift says of each result whether it is filtered: as it was when it was first sent,
// or else as the route of its model wants it now.
func (x *exchange) sift(body []byte, changes []audience.Change) *sifting {
	asked := x.asksModel(body)
	s := &sifting{changes: changes, filter: make([]bool, len(changes))}
	keys, policies := make([][16]byte, len(changes)), make([]verdicts.Verdict, len(changes))
	for i := range changes {
		model := cmp.Or(splice.Text(changes[i].Model), asked)
		keys[i], policies[i] = changes[i].Key, verdicts.Pass
		if s.filter[i] = x.settings.Catalog.Route(x.routedName(model)).Audience; s.filter[i] {
			policies[i] = verdicts.Filter
		}
	}
	if kept := x.settings.Verdicts; kept != nil {
		// Without the store it is as the route wants it; the store's guard counts that.
		s.decided, _ = kept.Decide(x.ctx, x.req.tenant(), keys, policies, x.record.Arrived)
		for i, verdict := range s.decided.Verdicts {
			s.filter[i] = verdict == verdicts.Filter
		}
	}
	return s
}

// asksModel is the model as the client has written it.
func (x *exchange) asksModel(body []byte) string {
	if x.req.Model != "" {
		return x.req.Model
	}
	return splice.PeekModel(body).Model
}

// routedName is a model's name as routes have it: without the collection that Gemini's
// dialect puts before it in a body.
func (x *exchange) routedName(model string) string {
	if x.req.Dialect == rewrite.Gemini {
		return strings.TrimPrefix(model, "models/")
	}
	return model
}

// keepSifted remembers and counts what was done with the results of a request that the
// provider has accepted. A request that only counts tokens decides nothing.
func (x *exchange) keepSifted() {
	if x.req.Operation == OpCountTokens {
		return
	}
	for _, s := range x.sifted {
		if s == nil {
			continue
		}
		if s.decided != nil {
			// What cannot be kept is decided again; the store's guard counts it.
			_ = x.settings.Verdicts.Keep(x.ctx, s.decided)
		}
		for i := range s.changes {
			if s.filter[i] && (s.decided == nil || s.decided.New[i]) {
				x.countWithheld(&s.changes[i])
			}
		}
	}
	x.sifted = [2]*sifting{}
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
