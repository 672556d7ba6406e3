package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"warmpath/rewrite"
)

// Handle counts the requests of one dialect, provider and model.
type Handle struct {
	table    *table
	requests *requestCounters
	// operation, provider and model are indices of their lists; operation is -1 where
	// there is no model to count for.
	operation, provider, model int
}

// modelChildren are what is counted of a model that a provider has answered for. All
// dialects with the same operation share them.
type modelChildren struct {
	index      int
	labels     [3]string // operation, provider, request model
	tokens     []atomic.Pointer[tokenChildren]
	named      atomic.Int32          // how many further names tokens has
	input      [3]prometheus.Counter // in the order of InputKinds
	writes     [5]prometheus.Counter // in the order of WriteLifetimes
	outcomes   []prometheus.Counter  // by CacheOutcome
	duration   prometheus.Observer
	firstToken prometheus.Observer
	gap        prometheus.Observer
	spent      spentChildren
}

// tokenChildren are the token histograms for one response model, in the order of
// TokenTypes.
type tokenChildren [5]prometheus.Observer

// FurtherNames is under how many names that differ from the one that was asked for a
// model can answer; under more it is counted as other. A router answers under any.
const FurtherNames = 2

// The closed sets of what is counted by model.
var (
	// Operations are OpenTelemetry's names for what requests do.
	Operations = []string{"chat", "generate_content"}
	// TokenTypes are what tokens are for.
	TokenTypes = []string{"input", "output", "input_cache_read", "input_cache_write", "reasoning"}
	// InputKinds are what the provider's cache did with input.
	InputKinds = []string{"read", "write", "none"}
	// WriteLifetimes are how long the cache keeps what is written, unknown where the
	// provider does not say.
	WriteLifetimes = []string{"5m", "30m", "1h", "12h", "unknown"}
)

func newHandle(t *table, dialect rewrite.Dialect, provider, model int, requests *requestCounters) *Handle {
	h := &Handle{t, requests, operationOf(dialect), provider, model}
	if provider == indexNone || model == indexNone {
		h.operation = -1
	}
	return h
}

// children are made when a provider has first answered for the model: clients can ask
// every provider for every model, and series are for ever.
func (h *Handle) children() *modelChildren {
	t := h.table
	slot := &t.answered[(h.operation*len(t.providers.list)+h.provider)*len(t.models.list)+h.model]
	if c := slot.Load(); c != nil {
		return c
	}
	operation, p, m, v := Operations[h.operation], t.providers.list[h.provider], t.models.list[h.model], t.vectors
	c := &modelChildren{
		index:      h.model,
		labels:     [3]string{operation, p, m},
		tokens:     make([]atomic.Pointer[tokenChildren], len(t.models.list)),
		duration:   v.duration.WithLabelValues(operation, p, m),
		firstToken: v.firstToken.WithLabelValues(p, m),
		gap:        v.gap.WithLabelValues(p, m),
		spent:      v.spending.children(p, m),
	}
	for i, label := range InputKinds {
		c.input[i] = v.inputTokens.WithLabelValues(p, m, label)
	}
	for i, label := range WriteLifetimes {
		c.writes[i] = v.cacheWrites.WithLabelValues(p, m, label)
	}
	for _, outcome := range rewrite.CacheOutcomes {
		c.outcomes = append(c.outcomes, v.cacheRequests.WithLabelValues(p, m, outcome.String()))
	}
	if !slot.CompareAndSwap(nil, c) {
		return slot.Load() // Another request was first.
	}
	return c
}

// operationOf is the index of what a dialect's requests do; opaque traffic has none.
func operationOf(d rewrite.Dialect) int {
	switch d {
	case rewrite.Messages, rewrite.Completions, rewrite.Responses, rewrite.Converse:
		return 0
	case rewrite.Gemini:
		return 1
	case rewrite.Opaque:
	}
	return -1
}

// Done counts one request that is over. It neither locks nor allocates, except
// when a provider names a response model, or a status and reason come together,
// for the first time.
func (h *Handle) Done(s Sample) {
	h.requests.counter(s.class(), s.Reason).Inc()
	if s.Overhead > 0 {
		h.table.overhead[s.Path].Observe(s.Overhead.Seconds())
	}
	ok := s.class() == classOf(200)
	if h.operation < 0 || !ok && !s.Usage.Known() && s.TimeToFirstToken == 0 {
		return
	}
	c := h.children()
	if s.Usage.Known() {
		h.tokens(c, h.responseModel(s.ResponseModel)).observe(&s.Usage)
		c.count(&s.Usage)
		c.spent.count(&s.Cost)
	}
	if ok {
		c.outcomes[s.Cache].Inc()
	}
	if s.Duration > 0 && s.Reason == rewrite.ReasonNone {
		c.duration.Observe(s.Duration.Seconds())
	}
	if s.TimeToFirstToken > 0 {
		c.firstToken.Observe(s.TimeToFirstToken.Seconds())
	}
	if s.Stream && s.LongestGap > 0 {
		c.gap.Observe(s.LongestGap.Seconds())
	}
}

// responseModel is the index of the model that a reply names; a reply that
// names none came from the model that was asked for.
func (h *Handle) responseModel(name string) int {
	if name == "" {
		return h.model
	}
	return h.table.models.findModel(name)
}

func (h *Handle) tokens(c *modelChildren, responseModel int) *tokenChildren {
	slot := &c.tokens[responseModel]
	if t := slot.Load(); t != nil {
		return t
	}
	if responseModel != c.index && responseModel != indexOther && !c.admit() {
		return h.tokens(c, indexOther)
	}
	t := new(tokenChildren)
	for i, tokenType := range TokenTypes {
		l := &c.labels
		t[i] = h.table.vectors.tokens.WithLabelValues(l[0], l[1], l[2], h.table.models.list[responseModel], tokenType)
	}
	slot.Store(t)
	return t
}

// admit takes one of the further names, unless all are taken.
func (c *modelChildren) admit() bool {
	for {
		n := c.named.Load()
		if n >= FurtherNames {
			return false
		}
		if c.named.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (c *tokenChildren) observe(u *rewrite.Usage) {
	for i, n := range [...]rewrite.Count{u.InputTotal, u.OutputTotal, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n.Known {
			c[i].Observe(float64(n.N))
		}
	}
}

// count adds to the counters that the cache ratio is read from. Input of which
// the provider does not say how much it read is left out: counted as fresh it
// would look like a miss.
func (c *modelChildren) count(u *rewrite.Usage) {
	if u.CacheRead.Known {
		add(c.input[0], u.CacheRead.N)
		add(c.input[1], u.CacheWrite.N)
		add(c.input[2], fresh(u))
	}
	rest := u.CacheWrite.N
	for i, n := range [...]rewrite.Count{u.CacheWrite5m, u.CacheWrite30m, u.CacheWrite1h, u.CacheWrite12h} {
		add(c.writes[i], n.N)
		rest -= n.N
	}
	add(c.writes[len(c.writes)-1], rest)
}

func fresh(u *rewrite.Usage) int64 {
	if u.InputFresh.Known || !u.InputTotal.Known {
		return u.InputFresh.N
	}
	return u.InputTotal.N - u.CacheRead.N - u.CacheWrite.N
}

// add counts n tokens; a provider whose parts exceed its whole must not make a
// counter go backwards, which panics.
func add(counter prometheus.Counter, n int64) {
	if n > 0 {
		counter.Add(float64(n))
	}
}
