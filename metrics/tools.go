package metrics

import "github.com/prometheus/client_golang/prometheus"

// The closed sets of what is counted of tools that the gateway runs.
var (
	// ToolSources are where tools come from.
	ToolSources = []string{"builtin", "mcp"}
	// ToolOutcomes are how their calls end.
	ToolOutcomes = []string{"answered", "failed"}
	// LedgerOutcomes are what became of replies of which clients are not told all:
	// they were saved or could not be, and were found when they came back; of replies
	// that came back, those that had nothing to find are absent too, and unread is the
	// store that did not answer.
	LedgerOutcomes = []string{"saved", "unsaved", "found", "absent", "unread"}
)

// running counts tools that the gateway runs.
type running struct {
	calls  *prometheus.CounterVec
	rounds prometheus.Counter
	ledger *prometheus.CounterVec
}

func newRunning() running {
	r := running{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_tool_calls_total", Help: "Calls of tools that the gateway runs itself, by where the tool comes from.",
		}, []string{"source", "outcome"}),
		rounds: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "warmpath_tool_rounds_total", Help: "Calls of providers that went on with results of tools which the gateway has run.",
		}),
		ledger: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_ledger_total", Help: "Replies whose hidden calls were saved, and replies that came back and were looked up for them.",
		}, []string{"outcome"}),
	}
	for _, source := range ToolSources {
		for _, outcome := range ToolOutcomes {
			r.calls.WithLabelValues(source, outcome)
		}
	}
	for _, outcome := range LedgerOutcomes {
		r.ledger.WithLabelValues(outcome)
	}
	return r
}

func (r *running) all() []prometheus.Collector {
	return []prometheus.Collector{r.calls, r.rounds, r.ledger}
}

// ToolRan counts a call of a tool from one of ToolSources.
func (m *Metrics) ToolRan(source string, failed bool) {
	outcome := "answered"
	if failed {
		outcome = "failed"
	}
	within(ToolSources, source)
	m.running.calls.WithLabelValues(source, outcome).Inc()
}

// ToolRound counts a call of a provider that goes on with results.
func (m *Metrics) ToolRound() { m.running.rounds.Inc() }

// Ledger counts a reply by one of LedgerOutcomes.
func (m *Metrics) Ledger(outcome string) {
	within(LedgerOutcomes, outcome)
	m.running.ledger.WithLabelValues(outcome).Inc()
}
