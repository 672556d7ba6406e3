package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"warmpath/rewrite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is the receiving end, which reads what it is sent.
type collector struct {
	mu      sync.Mutex
	spans   []*spans.Span
	metrics map[string]*metrics.Metric
	heads   []http.Header
	status  int
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heads = append(c.heads, r.Header)
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, _ := io.ReadAll(unpacked)
	var reply proto.Message
	switch r.URL.Path {
	case "/base/v1/traces":
		var in collectortrace.ExportTraceServiceRequest
		err = proto.Unmarshal(body, &in)
		for _, resource := range in.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		reply = &collectortrace.ExportTraceServiceResponse{}
	case "/base/v1/metrics":
		var in collectormetrics.ExportMetricsServiceRequest
		err = proto.Unmarshal(body, &in)
		for _, resource := range in.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics[m.Name] = m
				}
			}
		}
		reply = &collectormetrics.ExportMetricsServiceResponse{}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	out, _ := proto.Marshal(reply)
	_, _ = w.Write(out)
}

// told lists attributes as words.
func attributesOf(all []*common.KeyValue) (words []string) {
	for _, a := range all {
		value := fmt.Sprint(a.Value.Value)
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			value = v.StringValue
		case *common.AnyValue_IntValue:
			value = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			value = fmt.Sprint(v.BoolValue)
		case *common.AnyValue_ArrayValue:
			value = fmt.Sprint(len(v.ArrayValue.Values), " ", v.ArrayValue.Values[0].GetStringValue())
		}
		words = append(words, a.Key+"="+value)
	}
	slices.Sort(words)
	return words
}

func open(t *testing.T, c *collector, gatherer prometheus.Gatherer, log *slog.Logger) *Exporter {
	t.Helper()
	c.metrics = map[string]*metrics.Metric{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	e, err := Open(t.Context(), Config{Endpoint: server.URL + "/base/", Version: "v1.2.3", Log: log}, gatherer)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSpansTellOfCalls(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=seven")
	c := &collector{}
	e := open(t, c, prometheus.NewRegistry(), nil)
	began := time.Unix(1_800_000_000, 0)
	e.Call(&Call{
		Began: began, Duration: 3 * time.Second, Operation: "chat", Dialect: "messages", Provider: "gemini", Model: "claude-opus-5",
		Parent:        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		ResponseModel: "claude-opus-5-1", ResponseID: "msg_1", Stop: "end", Conversation: "conv_1", Status: 200, Stream: true,
		Usage: rewrite.Usage{InputTotal: rewrite.Tokens(100), CacheRead: rewrite.Tokens(90), OutputTotal: rewrite.Tokens(0)},
		Cache: "hit", Retries: 1, FirstToken: time.Second,
		Earlier: []Attempt{{Provider: "bedrock", Model: "m", Failure: "provider", Status: 529, Duration: time.Hour}},
	})
	e.Call(&Call{Began: began, Parent: "nonsense", Operation: "embeddings", Provider: "openai", Status: 502, Failure: "upstream_unreachable", Cache: "unreported", Miss: "ttl"})
	// A client that has decided against it.
	e.Call(&Call{Began: began, Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", Operation: "chat"})
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(c.spans) != 2 {
		t.Fatalf("%d spans", len(c.spans))
	}
	first, second := c.spans[0], c.spans[1]
	if first.Name != "chat claude-opus-5" || fmt.Sprintf("%x %x", first.TraceId, first.ParentSpanId) != "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" {
		t.Errorf("%s of %x below %x", first.Name, first.TraceId, first.ParentSpanId)
	}
	if got := first.EndTimeUnixNano - first.StartTimeUnixNano; got != 3e9 || first.Kind != spans.Span_SPAN_KIND_CLIENT {
		t.Errorf("%d ns of kind %s", got, first.Kind)
	}
	want := []string{
		"gen_ai.conversation.id=conv_1", "gen_ai.operation.name=chat", "gen_ai.provider.name=gcp.gemini", "gen_ai.request.model=claude-opus-5",
		"gen_ai.request.stream=true", "gen_ai.response.finish_reasons=1 end", "gen_ai.response.id=msg_1", "gen_ai.response.model=claude-opus-5-1",
		"gen_ai.usage.cache_read.input_tokens=90", "gen_ai.usage.input_tokens=100", "gen_ai.usage.output_tokens=0",
		"http.request.resend_count=1", "http.response.status_code=200", "warmpath.cache=hit", "warmpath.dialect=messages",
	}
	if diff := cmp.Diff(want, attributesOf(first.Attributes)); diff != "" {
		t.Error(diff)
	}
	if len(first.Events) != 2 || first.Events[0].Name != "warmpath.attempt" || first.Events[0].TimeUnixNano != first.EndTimeUnixNano ||
		first.Events[1].TimeUnixNano != first.StartTimeUnixNano+1e9 {
		t.Errorf("%v", first.Events)
	}
	if second.Name != "embeddings" || len(second.ParentSpanId) > 0 || second.Status.Code != spans.Status_STATUS_CODE_ERROR || second.Status.Message != "upstream_unreachable" {
		t.Errorf("%v", second)
	}
	if c.heads[0].Get("x-tenant") != "seven" {
		t.Errorf("%v", c.heads[0])
	}
}

func TestMetricsHaveTheNamesOfTheConventions(t *testing.T) {
	registry := prometheus.NewRegistry()
	usage := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "gen_ai_client_token_usage", Buckets: []float64{1, 10}},
		[]string{"gen_ai_token_type", "gen_ai_provider_name"})
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warmpath_requests_total"}, []string{"provider"})
	registry.MustRegister(usage, requests)
	usage.WithLabelValues("input", "xai").Observe(5)
	requests.WithLabelValues("xai").Add(3)
	c := &collector{}
	if err := open(t, c, registry, nil).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := c.metrics["gen_ai.client.token.usage"]
	if h == nil || h.Unit != "{token}" || h.GetHistogram().DataPoints[0].GetSum() != 5 {
		t.Fatalf("%v", h)
	}
	if diff := cmp.Diff([]string{"gen_ai.provider.name=x_ai", "gen_ai.token.type=input"}, attributesOf(h.GetHistogram().DataPoints[0].Attributes)); diff != "" {
		t.Error(diff)
	}
	n := c.metrics["warmpath_requests_total"]
	if n == nil || n.GetSum().DataPoints[0].GetAsDouble() != 3 {
		t.Errorf("%v", n)
	}
	if diff := cmp.Diff([]string{"provider=xai"}, attributesOf(n.GetSum().DataPoints[0].Attributes)); diff != "" {
		t.Error(diff)
	}
}

// A collector that refuses is told of once, and holds nobody up.
func TestACollectorThatRefusesIsToldOfOnce(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret-token")
	var said strings.Builder
	c := &collector{status: http.StatusForbidden}
	e := open(t, c, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&said, nil)))
	for range 3 {
		e.Call(&Call{Began: time.Now(), Operation: "chat"})
		_ = e.spans.ForceFlush(t.Context())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Error(err)
	}
	if n := strings.Count(said.String(), "the collector takes nothing"); n != 1 || strings.Contains(said.String(), "secret-token") {
		t.Errorf("said %d times: %s", n, said.String())
	}
}

func TestEndpointsAreChecked(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		"http://localhost:4318": true, "https://otel.example/x/": true,
		"localhost:4318": false, "": false, "grpc://x:1": false, "http://": false, "http://user:pass@x": false, "http://x?key=1": false, "http://[": false,
	} {
		if err := CheckEndpoint(endpoint); (err == nil) != ok {
			t.Errorf("%q: %v", endpoint, err)
		}
		if ok {
			continue
		}
		if _, err := Open(t.Context(), Config{Endpoint: endpoint}, prometheus.NewRegistry()); err == nil {
			t.Errorf("%q was opened", endpoint)
		}
	}
}

func TestNobodyIsNoExporter(t *testing.T) {
	var e *Exporter
	e.Call(&Call{})
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
