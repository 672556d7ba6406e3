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
	ID        int64     `json:"id"`
	Arrived   time.Time `json:"arrived"`
	Dialect   string    `json:"dialect"`
	Operation string    `json:"operation"`
	Provider  string    `json:"provider,omitempty"`
	Model     string    `json:"model,omitempty"`
	Stream    bool      `json:"stream"`
	Status    int       `json:"status"`
	// Reason is why the request failed; none for one that did not.
	Reason       string  `json:"reason"`
	Stop         string  `json:"stop"`
	Retries      int     `json:"retries"`
	Milliseconds float64 `json:"duration_ms"`
	FirstToken   float64 `json:"first_token_ms,omitempty"`

	Input   *int64 `json:"input_tokens"`
	Read    *int64 `json:"cache_read_tokens"`
	Written *int64 `json:"cache_write_tokens"`
	Fresh   *int64 `json:"fresh_tokens"`
	Output  *int64 `json:"output_tokens"`
	// Cache is the outcome that the figures amount to.
	Cache string `json:"cache"`

	// Continuity is what was done to keep the prefix warm; nil where nothing
	// could be planned.
	Continuity *Continuity `json:"continuity,omitempty"`
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
	// FrozenTools and FrozenSystem say that the bytes sent first went out again.
	FrozenTools  bool `json:"frozen_tools"`
	FrozenSystem bool `json:"frozen_system"`
	// Directives is the number of the gateway's messages in the request; the
	// newest one's changes are listed.
	Directives int      `json:"directives"`
	Texts      int      `json:"texts_said"`
	Added      []string `json:"tools_added,omitempty"`
	Removed    []string `json:"tools_removed,omitempty"`
	Defined    int      `json:"tools_defined"`
	// Retreats are the steps back after refusals, and Repaired says that
	// thinking of a lost prefix was left out.
	Retreats []string `json:"retreats,omitempty"`
	Repaired bool     `json:"repaired"`
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
		if conversation != "" && (r.Continuity == nil || r.Continuity.Conversation != conversation) {
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
