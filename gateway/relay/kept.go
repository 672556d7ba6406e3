package relay

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/cache/replies"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

// briefly is how long a reply is kept whose client sends its history itself: it
// hardly goes on by names, and with every turn there is more of it to keep.
const briefly = 24 * time.Hour

// keeping is what is to be kept of a translated exchange, so that its client can
// go on from the reply by its name, as with a provider that speaks the client's
// dialect. Nil keeps nothing.
type keeping struct {
	replies      *replies.Replies
	ctx          context.Context //nolint:containedctx // the request's own life
	tenant, name string
	// previous is the reply that the request goes on from, and after its turns.
	previous string
	after    *replies.History
	input    []byte
	// only says that nothing is kept: the request only goes on.
	only bool
}

// keeps reports whether the reply is to be kept.
func (k *keeping) keeps() bool { return k != nil && !k.only }

// recallNamed puts into a request what it calls by its name, and begins to keep its own
// turn. What the provider does not know, it has to be told.
func (x *exchange) recallNamed(plain []byte) ([]byte, *keeping, *rewrite.Failure) {
	if x.req.Dialect != rewrite.Responses {
		return plain, nil, nil
	}
	names, kept := responses.ReadNames(plain), x.settings.Replies
	named := names.Previous != "" || len(responses.References(names.Input)) > 0
	if !x.translates() && (kept == nil || names.Previous != "" && !responses.Own(names.Previous)) {
		// It is the provider that knows the name, and that keeps the reply.
		plain, failure := x.goOnElsewhere(plain)
		return plain, nil, failure
	}
	if names.Conversation && x.translates() {
		return nil, nil, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Param: "conversation", Message: "conversation cannot be used: the provider " +
			x.record.Provider + " keeps none. Go on from a reply by previous_response_id, or send the whole conversation as input."}
	}
	if kept == nil {
		if names.Previous != "" {
			return nil, nil, x.keepsNothing()
		}
		return plain, nil, nil
	}
	k := &keeping{
		replies: kept, ctx: x.ctx, tenant: x.req.tenant(), name: "resp_wp_" + madeID(),
		previous: names.Previous, only: !names.Keep,
	}
	if named {
		var failure *rewrite.Failure
		if plain, failure = x.recall(k, plain, &names); failure != nil {
			return nil, nil, failure
		}
	} else if names.Answered {
		k.replies = kept.Within(briefly)
	}
	if k.keeps() {
		k.input = bytes.Clone(names.Input)
	}
	return plain, k, nil
}

// goOnElsewhere puts into a request what it calls by a name that was given here,
// for a provider that speaks the dialect itself and knows its own names only. Its
// own reply is the provider's to keep.
func (x *exchange) goOnElsewhere(plain []byte) ([]byte, *rewrite.Failure) {
	if x.req.Dialect != rewrite.Responses || !responses.NamesOwn(plain) {
		return plain, nil
	}
	names := responses.ReadNames(plain)
	if !responses.Own(names.Previous) {
		names.Previous = ""
	}
	if names.Previous == "" && len(responses.References(names.Input)) == 0 {
		return plain, nil
	}
	if x.settings.Replies == nil {
		return nil, unknownPrevious(names.Previous, replies.ErrUnknown)
	}
	k := &keeping{replies: x.settings.Replies, ctx: x.ctx, tenant: x.req.tenant(), only: true}
	return x.recall(k, plain, &names)
}

// recall puts the turns and the items that a request names into it, in the room
// that is there for requests.
func (x *exchange) recall(k *keeping, plain []byte, names *responses.Names) ([]byte, *rewrite.Failure) {
	most := int(x.settings.DecodedBody)
	var past []responses.Past
	if names.Previous != "" {
		var err error
		if k.after, err = k.replies.History(k.ctx, k.tenant, names.Previous, most); err != nil {
			return nil, unknownPrevious(names.Previous, err)
		}
		past = pastOf(k.after)
	}
	find, failure := k.items(past, names.Input, most)
	if failure != nil {
		return nil, failure
	}
	whole := responses.Continue(plain, past, find)
	if !x.room.take(int64(len(whole) - len(plain))) {
		return nil, noRoom(errNoRoom)
	}
	// What an earlier version has kept, it has kept as it came.
	whole, x.sifted[1], failure = x.withhold(whole)
	return whole, failure
}

// pastOf is a history as its dialect reads it.
func pastOf(h *replies.History) (past []responses.Past) {
	for i := range h.Turns {
		past = append(past, responses.Past{Input: h.Turns[i].Input, Reply: h.Turns[i].Reply})
	}
	return past
}

// items finds the items that inputs call by their names.
func (k *keeping) items(past []responses.Past, own []byte, most int) (func(id string) []byte, *rewrite.Failure) {
	wanted := responses.References(own)
	for i := range past {
		wanted = append(wanted, responses.References(past[i].Input)...)
	}
	var names []string
	for _, id := range wanted {
		if name := responses.ReplyOf(id); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	turns, err := k.replies.Find(k.ctx, k.tenant, names, most)
	if err != nil {
		return nil, unread(err)
	}
	found := map[string][]byte{}
	for _, id := range wanted {
		turn := &turns[slices.Index(names, responses.ReplyOf(id))]
		if found[id] = responses.Item(turn.Reply, id); found[id] == nil {
			return nil, &rewrite.Failure{Reason: rewrite.ReasonNotFound, Param: "input", Message: "Item with id '" + id +
				"' not found. Items are not persisted when `store` is set to false, and not for ever. Send the item itself, or remove it from your input."}
		}
	}
	return func(id string) []byte { return found[id] }, nil
}

// keepsNothing refuses to go on from a reply where none are kept.
func (x *exchange) keepsNothing() *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Param: "previous_response_id", Message: "previous_response_id cannot be used: the provider " +
		x.record.Provider + " does not speak the Responses API, and this gateway keeps no replies itself (replies.keep is off). Send the whole conversation as input."}
}

// unknownPrevious says in the vendor's words that there is no such reply.
func unknownPrevious(name string, err error) *rewrite.Failure {
	if !errors.Is(err, replies.ErrUnknown) {
		return unread(err)
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Cause: err, Param: "previous_response_id", Code: "previous_response_not_found",
		Message: "Previous response with id '" + shownName(name) + "' not found."}
}

// unread says that replies could not be read.
func unread(err error) *rewrite.Failure {
	if errors.Is(err, replies.ErrTooLarge) {
		return &rewrite.Failure{Reason: rewrite.ReasonTooLarge, Cause: err, Param: "previous_response_id",
			Message: "The conversation is larger than the gateway takes in one request. Begin a new one, or send what of it is needed as input."}
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBusy, Cause: err,
		Message: "The store of replies does not answer now. Send the request again, or the whole conversation as input."}
}

// keptReply is an encoder that has written a reply which is kept.
type keptReply interface{ Response() []byte }

// ask has a reply named by the name that it is kept under.
func (k *keeping) ask(o *replyOptions) {
	if k == nil {
		return
	}
	o.request.Previous = k.previous
	if o.keep = !k.only; o.keep {
		o.id = k.name
	}
}

// save keeps the turn with its reply. That it could not be kept is counted by the
// store's guard; the client finds out when it goes on.
func (k *keeping) save(reply []byte) {
	if !k.keeps() || len(reply) == 0 || gjson.GetBytes(reply, "status").Str == "failed" {
		return
	}
	_ = k.replies.Save(k.ctx, k.tenant, k.name, k.after, replies.Turn{Input: k.input, Reply: reply})
}

// keptPath is the path of replies of ours.
const keptPath = "/responses/resp_wp_"

// serveKept answers what is asked of a reply that is kept here; nil if the request
// is about something else.
func (x *exchange) serveKept() *Reply {
	if x.req.Dialect != rewrite.Responses || x.req.Operation != OpOther {
		return nil
	}
	path, found := strings.CutPrefix(strings.TrimPrefix(string(x.req.Read), "/v1"), keptPath)
	if !found {
		return nil
	}
	id, rest, _ := strings.Cut(path, "/")
	body, failure := x.askKept("resp_wp_"+id, x.req.Method, rest)
	if failure != nil {
		return x.fail(failure)
	}
	x.record.Status = 200
	x.finish()
	defer x.recycle()
	return &Reply{
		Status: 200, Whole: body, Length: int64(len(body)),
		Fields: []upstream.Field{{Name: []byte("Content-Type"), Value: []byte("application/json")}},
	}
}

// askKept is the answer to one request about a reply.
func (x *exchange) askKept(name, method, rest string) (body []byte, failure *rewrite.Failure) {
	k := keeping{replies: x.settings.Replies, ctx: x.ctx, tenant: x.req.tenant()}
	if k.replies == nil {
		return nil, unknownReply(name, replies.ErrUnknown)
	}
	switch {
	case method == "GET" && rest == "":
		turn, err := k.replies.Load(k.ctx, k.tenant, name)
		if err != nil {
			return nil, unknownReply(name, err)
		}
		return turn.Reply, nil
	case method == "GET" && rest == "input_items":
		return x.listInput(&k, name)
	case method == "DELETE" && rest == "":
		if err := k.replies.Delete(k.ctx, k.tenant, name); err != nil {
			return nil, unknownReply(name, err)
		}
		return responses.AppendDeleted(nil, name), nil
	case method == "POST" && rest == "cancel":
		return nil, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: "Cannot cancel a synchronous response."}
	}
	return nil, &rewrite.Failure{Reason: rewrite.ReasonMethod,
		Message: "A response that is kept here can be asked for with GET, listed with GET …/input_items and deleted with DELETE."}
}

// listInput lists what a reply was asked with.
func (x *exchange) listInput(k *keeping, name string) ([]byte, *rewrite.Failure) {
	page, failure := pageOf(x.req.Query)
	if failure != nil {
		return nil, failure
	}
	most := int(x.settings.DecodedBody)
	history, err := k.replies.History(k.ctx, k.tenant, name, most)
	if err != nil {
		return nil, unknownReply(name, err)
	}
	past := pastOf(history)
	last := len(past) - 1
	find, failure := k.items(past[:last], past[last].Input, most)
	if failure != nil {
		return nil, failure
	}
	return responses.AppendInputItems(nil, name, past[:last], past[last].Input, find, page), nil
}

// pageOf reads which items of a list are asked for.
func pageOf(query []byte) (responses.Page, *rewrite.Failure) {
	page := responses.Page{Limit: 20}
	values, err := url.ParseQuery(string(query))
	if err != nil {
		return page, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Cause: err, Message: "The query cannot be read. Send it percent-encoded."}
	}
	page.Ascending, page.After = values.Get("order") == "asc", values.Get("after")
	if text := values.Get("limit"); text != "" {
		if page.Limit, err = strconv.Atoi(text); err != nil || page.Limit < 1 || page.Limit > 100 {
			return page, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Param: "limit", Message: "limit is no number from 1 to 100."}
		}
	}
	return page, nil
}

// unknownReply says in the vendor's words that there is no such reply.
func unknownReply(name string, err error) *rewrite.Failure {
	if !errors.Is(err, replies.ErrUnknown) {
		return unread(err)
	}
	return &rewrite.Failure{Reason: rewrite.ReasonNotFound, Cause: err, Message: "Response with id '" + shownName(name) + "' not found."}
}
