package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ServerOutcomes are how calls of MCP servers' tools end.
var ServerOutcomes = []string{"ok", "failed", "refused", "timeout", "cancelled", "unavailable", "broken"}

// servers counts what MCP servers do. Their names come from the configuration.
type servers struct {
	up       *prometheus.GaugeVec
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newServers() servers {
	return servers{
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "warmpath_mcp_server_up", Help: "1 for an MCP server that is connected, 0 for one that is configured and is not.",
		}, []string{"server"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_mcp_calls_total", Help: "Calls of tools of MCP servers, by how they ended.",
		}, []string{"server", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "warmpath_mcp_call_duration_seconds", Help: "Seconds that calls of tools of MCP servers took, with the time in which people were asked.",
			Buckets: waitBuckets,
		}, []string{"server"}),
	}
}

func (s *servers) all() []prometheus.Collector {
	return []prometheus.Collector{s.up, s.calls, s.duration}
}

// ServerUp says whether an MCP server of the configuration is connected.
func (m *Metrics) ServerUp(server string, up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.servers.up.WithLabelValues(server).Set(value)
	for _, outcome := range ServerOutcomes {
		m.servers.calls.WithLabelValues(server, outcome)
	}
}

// ServerGone forgets whether an MCP server is connected, which the configuration no
// longer has. Its calls stay counted.
func (m *Metrics) ServerGone(server string) { m.servers.up.DeleteLabelValues(server) }

// ServerCalled counts a call of a tool of an MCP server of the configuration, which
// ended as one of ServerOutcomes.
func (m *Metrics) ServerCalled(server, outcome string, took time.Duration) {
	within(ServerOutcomes, outcome)
	m.servers.calls.WithLabelValues(server, outcome).Inc()
	m.servers.duration.WithLabelValues(server).Observe(took.Seconds())
}
