package metrics

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"warmpath/rewrite"
)

// Metrics holds every metric of one gateway. All methods may be called at the
// same time.
type Metrics struct {
	vectors
	servers     servers
	continuity  continuity
	breaks      breaks
	translation translation
	logged      logged
	prompts     prompts
	audience    audience
	running     running
	table       atomic.Pointer[table]
}

// New registers the metrics with reg and resolves their labels for the given
// provider and model names. It panics if reg has them already: two gateways in
// one process need a registry each.
func New(reg prometheus.Registerer, providers, models []string) *Metrics {
	m := &Metrics{vectors: newVectors(), continuity: newContinuity(), breaks: newBreaks(), translation: newTranslation(), prompts: newPrompts(), logged: newLogged(), audience: newAudience(), running: newRunning()}
	reg.MustRegister(m.all()...)
	reg.MustRegister(m.continuity.all()...)
	reg.MustRegister(m.breaks.all()...)
	reg.MustRegister(m.translation.all()...)
	reg.MustRegister(m.logged.all()...)
	reg.MustRegister(m.prompts.all()...)
	reg.MustRegister(m.audience.all()...)
	reg.MustRegister(m.running.all()...)
	reg.MustRegister(newBuildInfo())
	m.servers = newServers()
	reg.MustRegister(m.servers.all()...)
	m.Reconfigure(providers, models)
	return m
}

// Reconfigure replaces the closed sets of provider and model names. Counters
// keep what they have, and a Handle taken before stays good.
func (m *Metrics) Reconfigure(providers, models []string) {
	m.table.Store(newTable(&m.vectors, providers, models))
}

// Handle is where requests of one dialect, provider and model are counted. It
// is resolved once; after that the call neither locks nor allocates. Both names
// are empty for a request that was refused before they were known.
func (m *Metrics) Handle(dialect rewrite.Dialect, provider, model string) *Handle {
	return m.table.Load().handle(dialect, provider, model)
}

// Enter counts a request as in flight until Leave.
func (m *Metrics) Enter() { m.inflight.Inc() }

// Leave ends what Enter began.
func (m *Metrics) Leave() { m.inflight.Dec() }

// StreamOpened counts a streamed reply as open until StreamClosed.
func (m *Metrics) StreamOpened() { m.streams.Inc() }

// StreamClosed ends what StreamOpened began.
func (m *Metrics) StreamClosed() { m.streams.Dec() }

// BodyBytes adds to the bytes of request bodies that are held in memory; a
// negative delta gives them back.
func (m *Metrics) BodyBytes(delta int) { m.bodyBytes.Add(float64(delta)) }

// RetryUpstream counts a provider that is called again because the call before
// ended for one of Retried.
func (m *Metrics) RetryUpstream(provider string, reason rewrite.Reason) {
	if !slices.Contains(Retried, reason) {
		panic("BUG: a provider is called again for " + reason.String())
	}
	t := m.table.Load()
	m.retries.WithLabelValues(t.providers.list[t.providers.find(provider)], reason.String()).Inc()
}

// FellBack counts a provider that has failed a request which then went to
// another.
func (m *Metrics) FellBack(provider string) {
	t := m.table.Load()
	m.fallbacks.WithLabelValues(t.providers.list[t.providers.find(provider)]).Inc()
}
