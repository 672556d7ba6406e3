package metrics

import "github.com/prometheus/client_golang/prometheus"

// The closed sets of misses, in the order of their labels.
var (
	// MissReasons are why a request found less in the provider's cache than it
	// might have.
	MissReasons = []string{
		"model_changed", "system_changed", "tools_changed", "messages_changed", "params_changed", "betas_changed",
		"ttl_expiry", "person_awaited", "cold_start", "below_minimum", "history_rewritten", "epoch", "route_changed",
		"provider_unexplained", "unknown",
	}
	// MissSources are who found the reason: the gateway by what it knows of the
	// conversation, or the provider that was asked.
	MissSources = []string{"gateway", "provider"}
	// MissCausers are whose doing it was; that of the gateway must stay at zero.
	MissCausers = []string{"client", "gateway", "provider", "unknown"}
)

// breaks counts misses and what was saved from them.
type breaks struct {
	misses, tokens, saved *prometheus.CounterVec
	// children are those of misses and tokens by reason, source and causer.
	children map[[3]string][2]prometheus.Counter
}

func newBreaks() breaks {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	b := breaks{
		misses: counter("warmpath_cache_breaks_total",
			"Requests that found less in the provider's cache than had been put there, or nothing, by reason.",
			"reason", "source", "by"),
		tokens: counter("warmpath_cache_break_tokens_total",
			"Input tokens that had been in the provider's cache and were processed again, by reason.",
			"reason", "source", "by"),
		saved: counter("warmpath_saved_tokens_total",
			"Estimate of the input tokens read from the cache that the client's own bytes would have had processed again.",
			"provider", "model"),
		children: map[[3]string][2]prometheus.Counter{},
	}
	for _, reason := range MissReasons {
		for _, source := range MissSources {
			for _, by := range MissCausers {
				b.children[[3]string{reason, source, by}] = [2]prometheus.Counter{
					b.misses.WithLabelValues(reason, source, by), b.tokens.WithLabelValues(reason, source, by),
				}
			}
		}
	}
	return b
}

func (b *breaks) all() []prometheus.Collector {
	return []prometheus.Collector{b.misses, b.tokens, b.saved}
}

// Broke counts a miss for one of MissReasons, which one of MissSources has found
// and one of MissCausers has caused, and the tokens that were processed again
// for it, 0 where none had been in the cache. It panics on any other word.
func (m *Metrics) Broke(reason, source, by string, tokens int64) {
	child, ok := m.breaks.children[[3]string{reason, source, by}]
	if !ok {
		panic("BUG: a miss outside the closed sets: " + reason + ", " + source + ", " + by)
	}
	child[0].Inc()
	add(child[1], tokens)
}

// Saved counts the tokens that one request found in the cache and would have
// missed as the client sent it.
func (m *Metrics) Saved(provider, model string, tokens int64) {
	t := m.table.Load()
	add(m.breaks.saved.WithLabelValues(t.providers.list[t.providers.find(provider)], t.models.list[t.models.find(model)]), tokens)
}
