package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"warmpath/rewrite"
)

// LossSides are whose words had no equal in the other dialect.
var LossSides = []string{"request", "reply"}

// translation counts what translations between dialects could not say.
type translation struct {
	losses *prometheus.CounterVec
}

func newTranslation() translation {
	t := translation{losses: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "warmpath_losses_total", Help: "Parts of requests and replies that their translation had no words for, by the client's dialect and the provider's.",
	}, []string{"dialect", "provider_dialect", "side"})}
	for _, client := range rewrite.Dialects {
		for _, provider := range rewrite.ProviderDialects {
			for _, side := range LossSides {
				if client != rewrite.Opaque {
					t.losses.WithLabelValues(client.String(), provider.String(), side)
				}
			}
		}
	}
	return t
}

func (t *translation) all() []prometheus.Collector { return []prometheus.Collector{t.losses} }

// Lost counts parts of a request or a reply, one of LossSides, that its
// translation had no words for.
func (m *Metrics) Lost(client, provider rewrite.Dialect, side string, n int) {
	within(LossSides, side)
	if n > 0 {
		m.translation.losses.WithLabelValues(client.String(), provider.String(), side).Add(float64(n))
	}
}
