package metrics

import "github.com/prometheus/client_golang/prometheus"

// The bucket bounds: tokens as OpenTelemetry advises them, the rest in seconds.
var (
	tokenBuckets    = prometheus.ExponentialBuckets(1, 4, 14)
	overheadBuckets = []float64{10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 250e-3, 1}
	waitBuckets     = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320}
)

// vectors are the metrics before any label has a value.
type vectors struct {
	tokens        *prometheus.HistogramVec
	duration      *prometheus.HistogramVec
	inputTokens   *prometheus.CounterVec
	cacheWrites   *prometheus.CounterVec
	cacheRequests *prometheus.CounterVec
	requests      *prometheus.CounterVec
	overhead      *prometheus.HistogramVec
	firstToken    *prometheus.HistogramVec
	gap           *prometheus.HistogramVec
	retries       *prometheus.CounterVec
	fallbacks     *prometheus.CounterVec
	inflight      prometheus.Gauge
	streams       prometheus.Gauge
	bodyBytes     prometheus.Gauge
	spending      spending
}

// newVectors is wiring: one constructor call for each metric, in the order of
// the struct.
func newVectors() vectors {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return vectors{
		tokens: histogram("gen_ai_client_token_usage",
			"Tokens per request as the provider reported them; input includes cache reads and writes, output includes reasoning.",
			tokenBuckets, "gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "gen_ai_response_model", "gen_ai_token_type"),
		duration: histogram("gen_ai_client_operation_duration_seconds",
			"Seconds from a request's arrival to the last byte of its reply, for requests that ended well.",
			waitBuckets, "gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"),
		inputTokens: counter("warmpath_input_tokens_total",
			"Input tokens by what the provider's prompt cache did with them, where the provider reports it.",
			"provider", "model", "cache"),
		cacheWrites: counter("warmpath_cache_write_tokens_total",
			"Tokens written to the provider's prompt cache by lifetime; unknown where the provider does not say which.",
			"provider", "model", "ttl"),
		cacheRequests: counter("warmpath_provider_cache_requests_total",
			"Requests that a provider accepted, by how they met its prompt cache; unreported is not a miss.",
			"provider", "model", "outcome"),
		requests: counter("warmpath_requests_total",
			"Requests by the client's dialect, provider, status class and reason; a client that left counts as 499.",
			"dialect", "provider", "status", "reason"),
		overhead: histogram("warmpath_overhead_seconds",
			"Seconds the gateway itself took for a request, without the waiting for provider and client.",
			overheadBuckets, "path"),
		firstToken: histogram("warmpath_time_to_first_token_seconds",
			"Seconds from a request's arrival to the first output of its reply.",
			waitBuckets, "provider", "model"),
		gap: histogram("warmpath_stream_gap_seconds",
			"The longest silence within each streamed reply, in seconds.",
			waitBuckets, "provider", "model"),
		retries: counter("warmpath_upstream_retries_total",
			"Calls to a provider that were made again, by what ended the call before.",
			"provider", "reason"),
		fallbacks: counter("warmpath_fallbacks_total",
			"Requests that were sent to another provider because this one had failed.",
			"provider"),
		inflight:  gauge("warmpath_inflight", "Requests that have arrived and are not answered yet."),
		streams:   gauge("warmpath_streams_open", "Streamed replies that have begun and are not over yet."),
		bodyBytes: gauge("warmpath_inflight_body_bytes", "Bytes of request bodies held in memory."),
		spending:  newSpending(),
	}
}

func (v *vectors) all() []prometheus.Collector {
	return append(v.spending.all(),
		v.tokens, v.duration, v.inputTokens, v.cacheWrites, v.cacheRequests, v.requests, v.overhead,
		v.firstToken, v.gap, v.retries, v.fallbacks, v.inflight, v.streams, v.bodyBytes,
	)
}
