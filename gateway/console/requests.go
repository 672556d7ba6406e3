package console

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// Request is what is shown of one request that is over. It never holds content.
// Counts that the provider did not report are null.
type Request struct {
	ID      int64     `json:"id"`
	Arrived time.Time `json:"arrived"`
	Dialect string    `json:"dialect"`
	// Spoken is the provider's dialect where the request was translated, and Losses
	// what its translation, or that of the reply, had no words for.
	Spoken    string   `json:"provider_dialect,omitempty"`
	Losses    []string `json:"losses,omitempty"`
	Operation string   `json:"operation"`
	Provider  string   `json:"provider,omitempty"`
	Model     string   `json:"model,omitempty"`
	Stream    bool     `json:"stream"`
	Status    int      `json:"status"`
	// Reason is why the request failed; none for one that did not.
	Reason  string `json:"reason"`
	Stop    string `json:"stop"`
	Retries int    `json:"retries"`
	// Earlier are the calls of providers before the one that this is about.
	Earlier      []Attempt `json:"earlier_calls,omitempty"`
	Milliseconds float64   `json:"duration_ms"`
	FirstToken   float64   `json:"first_token_ms,omitempty"`

	Input   *int64 `json:"input_tokens"`
	Read    *int64 `json:"cache_read_tokens"`
	Written *int64 `json:"cache_write_tokens"`
	Fresh   *int64 `json:"fresh_tokens"`
	Output  *int64 `json:"output_tokens"`
	// Partial says that the reply was cut, and the figures are those until then.
	Partial bool `json:"partial,omitempty"`
	// Cost is what the call has cost in US dollars, null where a price is not
	// known; CostLeast says that it has cost more.
	Cost      *json.Number `json:"cost_usd"`
	CostLeast bool         `json:"cost_is_least,omitempty"`
	// Hosted are the tools that the provider ran, and Citations is how many sources
	// the reply names.
	Hosted    []Hosted `json:"hosted,omitempty"`
	Citations int      `json:"citations,omitempty"`
	// Cache is the outcome that the figures amount to.
	Cache string `json:"cache"`
	// Miss is why less was found in the cache than had been put there, if so.
	Miss *Miss `json:"miss,omitempty"`
	// Diagnosis is what the provider says of the request, if it was asked.
	Diagnosis string `json:"provider_diagnosis,omitempty"`

	// Conversation names the conversation, where it has a name.
	Conversation string `json:"conversation,omitempty"`
	// Continuity is what was done to keep the prefix warm; nil where nothing
	// could be planned.
	Continuity *Continuity `json:"continuity,omitempty"`
}

// Attempt is a call of a provider that was followed by another one for the same
// request.
type Attempt struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Status is what the provider answered, zero where it did not.
	Status       int     `json:"status"`
	Reason       string  `json:"reason"`
	Milliseconds float64 `json:"duration_ms"`
}

// Hosted is a tool that the provider ran for a request.
type Hosted struct {
	// ID is the provider's, Name is of a closed set, and State is started,
	// completed, failed, or abandoned where it can end no more.
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// Miss is why a request found less in the provider's cache than it might have.
type Miss struct {
	// Reason is of a closed set, Source who has found it, and By whose doing it was.
	Reason string `json:"reason"`
	Source string `json:"source"`
	By     string `json:"by"`
	// Expected is how many tokens the cache should have had, and Missed how many of
	// them were processed again.
	Expected int64 `json:"expected_tokens"`
	Missed   int64 `json:"missed_tokens"`
}

// Change is one thing that the client changed since the turn before.
type Change struct {
	Tier string `json:"tier"`
	// Path is in the client's own numbering.
	Path string `json:"path"`
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// At is the byte of the request's body at which it differs first; null where
	// there is none. Size is that of the element, in bytes, and Hash the beginning
	// of its SHA-256 without cache marks.
	At   *int   `json:"at_byte"`
	Size int    `json:"bytes"`
	Hash string `json:"hash,omitempty"`
	// Old and New are what stands around the difference, if that is kept.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

// Continuity explains what the gateway made of a request.
type Continuity struct {
	Conversation string `json:"conversation"`
	Epoch        int    `json:"epoch"`
	// Began is why the prefix begins anew with this request, if it does.
	Began string `json:"began,omitempty"`
	// Messages is how many messages the request has, and Known how many of them
	// had been sent before.
	Messages int `json:"messages"`
	Known    int `json:"messages_known"`
	// Changes are what the client changed since the turn before; Unlisted is how
	// many more there were.
	Changes  []Change `json:"changes,omitempty"`
	Unlisted int      `json:"changes_unlisted,omitempty"`
	// Stake is about how many cached tokens stand behind the first change, and
	// Saved how many of them were read from the cache all the same.
	Stake int64 `json:"tokens_at_stake,omitempty"`
	Saved int64 `json:"tokens_saved,omitempty"`
	// Decided are the abilities and rules that decided what was done.
	Decided []string `json:"decided_by,omitempty"`
	// FrozenTools and FrozenSystem say that the bytes sent first went out again.
	FrozenTools  bool `json:"frozen_tools"`
	FrozenSystem bool `json:"frozen_system"`
	// Again is the number of messages that went out as they were first sent, and
	// Effort the effort that a message set for the first time.
	Again  int    `json:"messages_again,omitempty"`
	Effort string `json:"effort_said,omitempty"`
	// Directives is the number of the gateway's messages in the request; the
	// newest one's changes are listed.
	Directives int      `json:"directives"`
	Texts      int      `json:"texts_said"`
	Added      []string `json:"tools_added,omitempty"`
	Removed    []string `json:"tools_removed,omitempty"`
	Defined    int      `json:"tools_defined"`
	// Marked says that the gateway set cache marks, and Betas are those it added.
	Marked bool     `json:"marked,omitempty"`
	Betas  []string `json:"betas_added,omitempty"`
	// Asked says that the provider was asked why its cache missed.
	Asked bool `json:"asked_provider,omitempty"`
	// Retreats are the steps back after refusals, and Repaired says that
	// thinking of a lost prefix was left out.
	Retreats []string `json:"retreats,omitempty"`
	Repaired bool     `json:"repaired"`
	// Observed says that all this was only planned, and the request went out as it
	// came.
	Observed bool `json:"observed,omitempty"`
}

// defaultList and maxList bound a list of requests.
const (
	defaultList = 50
	maxList     = 1000
)

// requests answers /api/requests, newest first, and /api/requests/{id}. The
// list can be cut to one conversation.
func (s *Server) requests(ctx *fasthttp.RequestCtx) {
	if id, ok := strings.CutPrefix(string(ctx.Path()), "/api/requests/"); ok {
		s.request(ctx, id)
		return
	}
	limit, err := strconv.Atoi(string(ctx.QueryArgs().Peek("limit")))
	if err != nil || limit <= 0 {
		limit = defaultList
	}
	limit = min(limit, maxList)
	conversation := string(ctx.QueryArgs().Peek("conversation"))
	list := []Request{}
	for _, r := range s.config.Requests() {
		if conversation != "" && r.Conversation != conversation && (r.Continuity == nil || r.Continuity.Conversation != conversation) {
			continue
		}
		if list = append(list, r); len(list) == limit {
			break
		}
	}
	writeJSON(ctx, struct {
		Requests []Request `json:"requests"`
	}{list})
}

func (s *Server) request(ctx *fasthttp.RequestCtx, id string) {
	number, err := strconv.ParseInt(id, 10, 64)
	for _, r := range s.config.Requests() {
		if err == nil && r.ID == number {
			writeJSON(ctx, r)
			return
		}
	}
	text(ctx, fasthttp.StatusNotFound, "no request of this number is remembered; /api/requests lists those that are")
}

func writeJSON(ctx *fasthttp.RequestCtx, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an answer that is no JSON: " + err.Error())
	}
	ctx.SetContentType("application/json")
	ctx.SetBody(append(body, '\n'))
}
