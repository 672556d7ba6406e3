package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"warmpath/rewrite"
)

// The closed sets of what money goes to, of how far tools that providers run
// come, and of what becomes of citations, in the order of their labels.
var (
	// CostKinds are what a call costs money for; charged is the whole of it where
	// the provider itself says what it was.
	CostKinds = []string{"fresh", "read", "write", "output", "hosted", "charged"}
	// HostedStates are transitions: one activity can be counted as started and as
	// one of the others.
	HostedStates = []string{"started", "completed", "failed", "abandoned"}
	// CitationStates are of sources that texts name; a dropped range is counted
	// besides.
	CitationStates = []string{"complete", "incomplete", "range_dropped"}
)

// spending counts what calls cost, and what else they were for.
type spending struct {
	cost, saved, unpriced, hosted, citations *prometheus.CounterVec
}

func newSpending() spending {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return spending{
		cost: counter("warmpath_cost_usd_total",
			"US dollars that calls have cost by the price table, by what they were for; calls whose price is not known are not in it.",
			"provider", "model", "kind"),
		saved: counter("warmpath_saved_usd_total",
			"Estimate of the US dollars that saved tokens would have cost more as fresh input.",
			"provider", "model"),
		unpriced: counter("warmpath_unpriced_requests_total",
			"Calls that have used something whose price is not known.",
			"provider", "model"),
		hosted: counter("warmpath_hosted_activity_total",
			"Activities of tools that the provider runs, by name and transition; abandoned were started and had not ended when the reply was over.",
			"provider", "name", "state"),
		citations: counter("warmpath_citations_total",
			"Sources that replies name, by whether the text they are of was complete; dropped ranges are counted besides.",
			"provider", "state"),
	}
}

func (s *spending) all() []prometheus.Collector {
	return []prometheus.Collector{s.cost, s.saved, s.unpriced, s.hosted, s.citations}
}

// spentChildren are those of one provider and model.
type spentChildren struct {
	cost     [6]prometheus.Counter // in the order of CostKinds
	unpriced prometheus.Counter
}

func (s *spending) children(provider, model string) (c spentChildren) {
	for i, kind := range CostKinds {
		c.cost[i] = s.cost.WithLabelValues(provider, model, kind)
	}
	c.unpriced = s.unpriced.WithLabelValues(provider, model)
	return c
}

// count counts what a call that used something has cost.
func (s *spentChildren) count(c *rewrite.Cost) {
	if !c.Known || c.Least {
		s.unpriced.Inc()
	}
	for i, part := range [...]rewrite.Dollars{c.Fresh, c.Read, c.Write, c.Output, c.Hosted, c.Charged} {
		if part > 0 {
			s.cost[i].Add(part.Float())
		}
	}
}

// SavedDollars counts what it saved that one request found tokens in the cache
// that it would have missed as the client sent it.
func (m *Metrics) SavedDollars(provider, model string, saved rewrite.Dollars) {
	if saved > 0 {
		t := m.table.Load()
		m.spending.saved.WithLabelValues(t.providers.list[t.providers.find(provider)], t.models.list[t.models.find(model)]).Add(saved.Float())
	}
}

// Hosted counts the activities of a reply that is over.
func (m *Metrics) Hosted(provider string, r *rewrite.Report) {
	a := r.Activity
	if a == nil {
		return
	}
	t := m.table.Load()
	p := t.providers.list[t.providers.find(provider)]
	for i := range a.Hosted {
		h := &a.Hosted[i]
		within(rewrite.Capabilities, h.Name)
		count := func(state string) { m.spending.hosted.WithLabelValues(p, h.Name, state).Inc() }
		if h.Began {
			count(HostedStates[0])
		}
		switch {
		case h.State == rewrite.HostedCompleted:
			count(HostedStates[1])
		case h.State == rewrite.HostedFailed:
			count(HostedStates[2])
		case r.Abandoned(h):
			count(HostedStates[3])
		}
	}
	for i, n := range [...]int{a.Cited, a.Citing, a.RangesDropped} {
		if n > 0 {
			m.spending.citations.WithLabelValues(p, CitationStates[i]).Add(float64(n))
		}
	}
}
