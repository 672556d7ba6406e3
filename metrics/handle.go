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
	model    *modelChildren // nil where there is no model to count for
}

// modelChildren are what is counted of a request that a provider and a model
// are known for.
type modelChildren struct {
	index      int
	labels     [3]string // operation, provider, request model
	tokens     []atomic.Pointer[tokenChildren]
	input      [3]prometheus.Counter // read, write, none
	writes     [5]prometheus.Counter // in the order of writeLabels
	outcomes   []prometheus.Counter  // by CacheOutcome
	duration   prometheus.Observer
	firstToken prometheus.Observer
	gap        prometheus.Observer
	spent      spentChildren
}

// tokenChildren are the token histograms for one response model.
type tokenChildren struct {
	input, output, cacheRead, cacheWrite, reasoning prometheus.Observer
}

var (
	inputLabels = [3]string{"read", "write", "none"}
	writeLabels = [5]string{"5m", "30m", "1h", "12h", "unknown"}
)

func newHandle(t *table, dialect rewrite.Dialect, provider, model int, requests *requestCounters) *Handle {
	h := &Handle{table: t, requests: requests}
	operation := operationOf(dialect)
	if operation == "" || provider == indexNone || model == indexNone {
		return h
	}
	p, m, v := t.providers.list[provider], t.models.list[model], t.vectors
	c := &modelChildren{
		index:      model,
		labels:     [3]string{operation, p, m},
		tokens:     make([]atomic.Pointer[tokenChildren], len(t.models.list)),
		duration:   v.duration.WithLabelValues(operation, p, m),
		firstToken: v.firstToken.WithLabelValues(p, m),
		gap:        v.gap.WithLabelValues(p, m),
		spent:      v.spending.children(p, m),
	}
	for i, label := range inputLabels {
		c.input[i] = v.inputTokens.WithLabelValues(p, m, label)
	}
	for i, label := range writeLabels {
		c.writes[i] = v.cacheWrites.WithLabelValues(p, m, label)
	}
	for _, outcome := range rewrite.CacheOutcomes {
		c.outcomes = append(c.outcomes, v.cacheRequests.WithLabelValues(p, m, outcome.String()))
	}
	h.model = c
	h.tokens(model)
	return h
}

// operationOf is OpenTelemetry's name for what a dialect's requests do; opaque
// traffic has none.
func operationOf(d rewrite.Dialect) string {
	switch d {
	case rewrite.Messages, rewrite.Completions, rewrite.Responses, rewrite.Converse:
		return "chat"
	case rewrite.Gemini:
		return "generate_content"
	case rewrite.Opaque:
	}
	return ""
}

// Done counts one request that is over. It neither locks nor allocates, except
// when a provider names a response model, or a status and reason come together,
// for the first time.
func (h *Handle) Done(s Sample) {
	h.requests.counter(s.class(), s.Reason).Inc()
	if s.Overhead > 0 {
		h.table.overhead[s.Path].Observe(s.Overhead.Seconds())
	}
	c := h.model
	if c == nil {
		return
	}
	if s.Usage.Known() {
		h.tokens(h.responseModel(s.ResponseModel)).observe(&s.Usage)
		c.count(&s.Usage)
		c.spent.count(&s.Cost)
	}
	if class := s.class(); class == classOf(200) {
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
		return h.model.index
	}
	return h.table.models.findModel(name)
}

func (h *Handle) tokens(responseModel int) *tokenChildren {
	slot := &h.model.tokens[responseModel]
	if c := slot.Load(); c != nil {
		return c
	}
	child := func(tokenType string) prometheus.Observer {
		l := &h.model.labels
		return h.table.vectors.tokens.WithLabelValues(l[0], l[1], l[2], h.table.models.list[responseModel], tokenType)
	}
	c := &tokenChildren{
		input:      child("input"),
		output:     child("output"),
		cacheRead:  child("input_cache_read"),
		cacheWrite: child("input_cache_write"),
		reasoning:  child("reasoning"),
	}
	slot.Store(c)
	return c
}

func (c *tokenChildren) observe(u *rewrite.Usage) {
	observe(c.input, u.InputTotal)
	observe(c.output, u.OutputTotal)
	observe(c.cacheRead, u.CacheRead)
	observe(c.cacheWrite, u.CacheWrite)
	observe(c.reasoning, u.Reasoning)
}

func observe(o prometheus.Observer, n rewrite.Count) {
	if n.Known {
		o.Observe(float64(n.N))
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
