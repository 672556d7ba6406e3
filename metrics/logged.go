package metrics

import "github.com/prometheus/client_golang/prometheus"

// LogFailures are why something is missing in the log of conversations: it could not
// be written, or the request or reply could not be read.
var LogFailures = []string{"write", "request", "reply"}

// logged counts what the log of conversations has, and what it lacks.
type logged struct {
	events   prometheus.Counter
	failures *prometheus.CounterVec
}

func newLogged() logged {
	l := logged{
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "warmpath_log_events_total", Help: "Events written to the log of conversations.",
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warmpath_log_failures_total", Help: "Times that something is missing in the log of conversations; the requests went on.",
		}, []string{"reason"}),
	}
	for _, reason := range LogFailures {
		l.failures.WithLabelValues(reason)
	}
	return l
}

func (l *logged) all() []prometheus.Collector { return []prometheus.Collector{l.events, l.failures} }

// Logged counts events that were written to the log of conversations.
func (m *Metrics) Logged(events int) { m.logged.events.Add(float64(events)) }

// LogFailed counts one of LogFailures.
func (m *Metrics) LogFailed(reason string) {
	within(LogFailures, reason)
	m.logged.failures.WithLabelValues(reason).Inc()
}
