package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"warmpath/rewrite"
)

// table holds the children of the vectors for one configuration. Handles are
// made when first asked for: which provider serves which model, in which
// dialect, is a small part of all that could be.
type table struct {
	vectors   *vectors
	providers names
	models    names
	overhead  []prometheus.Observer           // by Path
	requests  []*requestCounters              // by dialect, provider
	handles   []atomic.Pointer[Handle]        // by dialect, provider, model
	answered  []atomic.Pointer[modelChildren] // by operation, provider, model
}

func newTable(v *vectors, providers, models []string) *table {
	t := &table{vectors: v, providers: newNames(providers), models: newNames(models)}
	for _, p := range Paths {
		t.overhead = append(t.overhead, v.overhead.WithLabelValues(p.String()))
	}
	for _, dialect := range rewrite.Dialects {
		for i := range t.providers.list {
			t.requests = append(t.requests, newRequestCounters(v, dialect, i, t.providers.list[i]))
		}
	}
	for _, provider := range t.providers.list[indexOther+1:] {
		for _, reason := range Retried {
			v.retries.WithLabelValues(provider, reason.String())
		}
		v.fallbacks.WithLabelValues(provider)
	}
	t.handles = make([]atomic.Pointer[Handle], len(t.requests)*len(t.models.list))
	t.answered = make([]atomic.Pointer[modelChildren], len(Operations)*len(t.providers.list)*len(t.models.list))
	return t
}

func (t *table) handle(dialect rewrite.Dialect, provider, model string) *Handle {
	p, m := t.providers.find(provider), t.models.find(model)
	row := int(dialect)*len(t.providers.list) + p
	slot := &t.handles[row*len(t.models.list)+m]
	if h := slot.Load(); h != nil {
		return h
	}
	// Two at once make the same children, so either may stay.
	h := newHandle(t, dialect, p, m, t.requests[row])
	slot.Store(h)
	return h
}

// requestCounters are the children of warmpath_requests_total for one dialect
// and provider. Most pairs of class and reason never happen; those that do are
// there from the start so that their zero is visible.
type requestCounters struct {
	vec               *prometheus.CounterVec
	dialect, provider string
	cells             []atomic.Pointer[prometheus.Counter] // by class, reason
}

func newRequestCounters(v *vectors, dialect rewrite.Dialect, index int, provider string) *requestCounters {
	c := &requestCounters{
		vec:      v.requests,
		dialect:  dialect.String(),
		provider: provider,
		cells:    make([]atomic.Pointer[prometheus.Counter], classes*len(rewrite.Reasons)),
	}
	if index == indexOther {
		return c // Not configured, so not expected.
	}
	for _, reason := range rewrite.Reasons {
		if index == indexNone && !beforeProvider(reason) || index != indexNone && !withProvider(reason) {
			continue
		}
		switch reason {
		case rewrite.ReasonProvider:
			c.counter(classOf(400), reason)
			c.counter(classOf(500), reason)
		case rewrite.ReasonStreamCut: // Before or after the reply's head was sent.
			c.counter(classOf(reason.Status()), reason)
			c.counter(classOf(200), reason)
		default:
			c.counter(classOf(reason.Status()), reason)
		}
	}
	return c
}

func (c *requestCounters) counter(class class, reason rewrite.Reason) prometheus.Counter {
	cell := &c.cells[int(class)*len(rewrite.Reasons)+int(reason)]
	if child := cell.Load(); child != nil {
		return *child
	}
	child := c.vec.WithLabelValues(c.dialect, c.provider, class.String(), reason.String())
	cell.Store(&child)
	return child
}
