package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The closed sets of what continuity does, in the order of their metrics.
var (
	// EditKinds are the edits that one request can have: echo is a history that goes out
	// as it was first sent, mark that the gateway has said what is to be cached.
	EditKinds = []string{"directive_text", "tool_addition", "tool_removal", "tool_definition", "frozen_tools", "frozen_system", "echo", "effort", "mark"}
	// EpochReasons are why a prefix is begun anew.
	EpochReasons = []string{"fresh", "tools_changed", "system_changed", "directive_too_big", "bytes_lost", "effort_changed", "history_rewritten", "retreat"}
	// Retreats are why a request was accepted only with less of ours in it.
	Retreats = []string{"bound_thinking", "system_message", "beta", "marks", "diagnostics", "foreign_thinking", "tools", "other"}
	// UnplannedReasons are why a request that could have been planned was sent as
	// it came.
	UnplannedReasons = []string{"unreadable", "store", "too_large"}
	// StoreOps and StoreReasons are what the store was asked, and why a request
	// went on without its answer.
	StoreOps     = []string{"get", "set", "swap"}
	StoreReasons = []string{"timeout", "error", "open", "busy"}
)

// continuity counts what is done to keep prefixes warm.
type continuity struct {
	edits, observed, epochs, retreats, unplanned *prometheus.CounterVec

	store   *prometheus.CounterVec
	answers *prometheus.HistogramVec
	waits   prometheus.Counter
}

func newContinuity() continuity {
	counter := func(name, help, label string, values []string) *prometheus.CounterVec {
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		for _, value := range values {
			vec.WithLabelValues(value)
		}
		return vec
	}
	store := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "warmpath_store_failures_total", Help: "Operations on the store of conversations that requests went on without.",
	}, []string{"op", "reason"})
	answers := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "warmpath_store_duration_seconds", Help: "Seconds that the store of conversations took for an operation, for those that it answered in time.",
		Buckets: overheadBuckets,
	}, []string{"op"})
	for _, op := range StoreOps {
		answers.WithLabelValues(op)
		for _, reason := range StoreReasons {
			store.WithLabelValues(op, reason)
		}
	}
	return continuity{
		waits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "warmpath_cold_waits_total", Help: "Requests that waited for another one with the same cold prefix.",
		}),
		store:     store,
		answers:   answers,
		edits:     counter("warmpath_edits_total", "Edits in requests that the provider accepted, made so that its prompt cache stays warm.", "kind", EditKinds),
		observed:  counter("warmpath_observed_edits_total", "Edits that mode observe would have made to requests.", "kind", EditKinds),
		epochs:    counter("warmpath_epochs_total", "Prefixes begun anew in requests that the provider accepted, each a deliberate cache miss unless the conversation is fresh.", "reason", EpochReasons),
		retreats:  counter("warmpath_retreats_total", "Steps back after refusals in requests that the provider accepted once there was less of the gateway's in them.", "reason", Retreats),
		unplanned: counter("warmpath_unplanned_total", "Requests sent as they came because they could not be planned.", "reason", UnplannedReasons),
	}
}

func (c *continuity) all() []prometheus.Collector {
	return []prometheus.Collector{c.edits, c.observed, c.epochs, c.retreats, c.unplanned, c.store, c.answers, c.waits}
}

// Observed counts an edit of one of EditKinds that would have been made.
func (m *Metrics) Observed(kind string) {
	within(EditKinds, kind)
	m.continuity.observed.WithLabelValues(kind).Inc()
}

// ColdWaited counts a request that has waited for another one's cold prefix.
func (m *Metrics) ColdWaited() { m.continuity.waits.Inc() }

// Edited counts an edit of one of EditKinds.
func (m *Metrics) Edited(kind string) {
	within(EditKinds, kind)
	m.continuity.edits.WithLabelValues(kind).Inc()
}

// Epoch counts a prefix begun anew for one of EpochReasons.
func (m *Metrics) Epoch(reason string) {
	within(EpochReasons, reason)
	m.continuity.epochs.WithLabelValues(reason).Inc()
}

// Retreated counts one of Retreats.
func (m *Metrics) Retreated(reason string) {
	within(Retreats, reason)
	m.continuity.retreats.WithLabelValues(reason).Inc()
}

// StoreFailed counts one of StoreOps for one of StoreReasons.
func (m *Metrics) StoreFailed(op, reason string) {
	within(StoreOps, op)
	within(StoreReasons, reason)
	m.continuity.store.WithLabelValues(op, reason).Inc()
}

// StoreAnswered counts the time that the store took for one of StoreOps.
func (m *Metrics) StoreAnswered(op string, took time.Duration) {
	within(StoreOps, op)
	m.continuity.answers.WithLabelValues(op).Observe(took.Seconds())
}

// Unplanned counts one of UnplannedReasons.
func (m *Metrics) Unplanned(reason string) {
	within(UnplannedReasons, reason)
	m.continuity.unplanned.WithLabelValues(reason).Inc()
}
