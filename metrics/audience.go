package metrics

import "github.com/prometheus/client_golang/prometheus"

// DroppedReasons are why a block of a tool's result did not reach the provider: it is
// for people alone, for somebody whom nobody knows, or of a kind that the client's
// dialect has no place for.
var DroppedReasons = []string{"user_only", "unknown", "unsupported"}

// audience counts what is withheld of the results of tools.
type audience struct {
	dropped      *prometheus.CounterVec
	placeholders prometheus.Counter
}

func newAudience() audience {
	a := audience{
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_audience_blocks_dropped_total", Help: "Blocks of tools' results that were left out of requests, each counted when it is first sent.",
		}, []string{"reason"}),
		placeholders: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "warmpath_placeholders_total", Help: "Results of tools of which nothing was left for the provider.",
		}),
	}
	for _, reason := range DroppedReasons {
		a.dropped.WithLabelValues(reason)
	}
	return a
}

func (a *audience) all() []prometheus.Collector {
	return []prometheus.Collector{a.dropped, a.placeholders}
}

// BlocksDropped counts blocks of a tool's result that were left out for one of
// DroppedReasons.
func (m *Metrics) BlocksDropped(reason string, n int) {
	within(DroppedReasons, reason)
	if n > 0 {
		m.audience.dropped.WithLabelValues(reason).Add(float64(n))
	}
}

// Placeheld counts a result of which nothing was left.
func (m *Metrics) Placeheld() { m.audience.placeholders.Inc() }
