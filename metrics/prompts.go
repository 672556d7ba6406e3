package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The closed sets of what is counted of prompts.
var (
	// PromptKinds are what prompts are about.
	PromptKinds = []string{"run", "deliver", "question"}
	// PromptOutcomes are what came of them.
	PromptOutcomes = []string{"answered", "declined", "cancelled", "expired", "nobody", "approved", "defaults", "model", "draining"}
	// PromptSharingOps are what the gateways do with the prompts that they share.
	PromptSharingOps = []string{"pin", "read", "call"}
)

// prompts counts what people were asked.
type prompts struct {
	done    *prometheus.CounterVec
	wait    *prometheus.HistogramVec
	open    prometheus.Gauge
	sharing *prometheus.CounterVec
}

func newPrompts() prompts {
	p := prompts{
		done: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_prompts_total", Help: "Prompts by kind and by what came of them; nobody, approved, defaults and model were decided by a policy.",
		}, []string{"kind", "outcome"}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "warmpath_prompt_wait_seconds", Help: "Seconds that prompts were open until they closed, for those that were opened.", Buckets: waitBuckets,
		}, []string{"kind"}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "warmpath_prompts_open", Help: "Prompts of this gateway that wait for an answer.",
		}),
		sharing: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_prompt_sharing_failures_total", Help: "Operations on the shared store that prompts went on without, within one gateway.",
		}, []string{"op"}),
	}
	for _, kind := range PromptKinds {
		p.wait.WithLabelValues(kind)
		for _, outcome := range PromptOutcomes {
			p.done.WithLabelValues(kind, outcome)
		}
	}
	for _, op := range PromptSharingOps {
		p.sharing.WithLabelValues(op)
	}
	return p
}

func (p *prompts) all() []prometheus.Collector {
	return []prometheus.Collector{p.done, p.wait, p.open, p.sharing}
}

// PromptOpened counts a prompt as open until PromptClosed.
func (m *Metrics) PromptOpened() { m.prompts.open.Inc() }

// PromptClosed ends what PromptOpened began.
func (m *Metrics) PromptClosed() { m.prompts.open.Dec() }

// PromptDone counts a prompt of one of PromptKinds with one of PromptOutcomes. Waited
// is for how long it was open; zero if it was not.
func (m *Metrics) PromptDone(kind, outcome string, waited time.Duration) {
	within(PromptKinds, kind)
	within(PromptOutcomes, outcome)
	m.prompts.done.WithLabelValues(kind, outcome).Inc()
	if waited > 0 {
		m.prompts.wait.WithLabelValues(kind).Observe(waited.Seconds())
	}
}

// PromptSharingFailed counts one of PromptSharingOps.
func (m *Metrics) PromptSharingFailed(op string) {
	within(PromptSharingOps, op)
	m.prompts.sharing.WithLabelValues(op).Inc()
}
