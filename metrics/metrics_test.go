package metrics_test

import (
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"warmpath/metrics"
	"warmpath/rewrite"
)

func newMetrics(t *testing.T, providers, models []string) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	return metrics.New(reg, providers, models), reg
}

// warm is a reply of a model with a warm cache and every number reported.
func warm() metrics.Sample {
	return metrics.Sample{
		Status: 200,
		Usage: rewrite.Usage{
			InputTotal: rewrite.Tokens(10000), InputFresh: rewrite.Tokens(300),
			CacheRead: rewrite.Tokens(9000), CacheWrite: rewrite.Tokens(700),
			CacheWrite5m: rewrite.Tokens(500), CacheWrite1h: rewrite.Tokens(150),
			OutputTotal: rewrite.Tokens(250), Reasoning: rewrite.Tokens(100),
		},
		Cost: rewrite.Cost{
			Fresh: rewrite.Dollar / 2, Read: rewrite.Dollar / 4, Write: 2 * rewrite.Dollar, Output: 3 * rewrite.Dollar, Hosted: rewrite.Dollar / 8, Known: true,
		},
		Cache:            rewrite.CacheHit,
		ResponseModel:    "sonnet-20250929",
		Overhead:         80 * time.Microsecond,
		TimeToFirstToken: 700 * time.Millisecond,
		Duration:         9 * time.Second,
		LongestGap:       3 * time.Second,
		Stream:           true,
	}
}

// scrape is the text exposition without comments and buckets, sorted, zeros
// left out.
func scrape(t *testing.T, reg *prometheus.Registry) []string {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(exposition(t, reg)), "\n") {
		switch {
		case strings.HasPrefix(line, "#"), strings.HasSuffix(line, " 0"), strings.Contains(line, "_bucket{"),
			strings.HasPrefix(line, "warmpath_build_info"):
		default:
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func exposition(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestDone(t *testing.T) {
	broken := warm()
	broken.Cost = rewrite.Cost{}
	broken.Status, broken.Reason, broken.Usage, broken.Cache = 529, rewrite.ReasonProvider, rewrite.Usage{}, rewrite.CacheUnreported
	broken.TimeToFirstToken, broken.LongestGap = 0, 0
	gone := warm()
	gone.Reason, gone.Usage = rewrite.ReasonClientGone, rewrite.Usage{OutputTotal: rewrite.Tokens(7)}
	silent := warm()
	silent.Usage = rewrite.Usage{InputTotal: rewrite.Tokens(5000), InputFresh: rewrite.Tokens(5000), OutputTotal: rewrite.Tokens(9)}
	silent.Cache, silent.Stream = rewrite.CacheUnreported, false
	silent.Cost = rewrite.Cost{Charged: 5 * rewrite.Dollar, Known: true, Least: true}
	gone.Cost = rewrite.Cost{}
	inconsistent := metrics.Sample{Status: 200, Usage: rewrite.Usage{
		InputTotal: rewrite.Tokens(10), CacheRead: rewrite.Tokens(40), CacheWrite5m: rewrite.Tokens(3),
	}}

	tests := map[string]struct {
		dialect         rewrite.Dialect
		provider, model string
		sample          metrics.Sample
		want            []string
	}{
		"a warm reply": {rewrite.Messages, "claude", "sonnet", warm(), []string{
			`gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet"} 1`,
			`gen_ai_client_operation_duration_seconds_sum{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet"} 9`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="input"} 1`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="input_cache_read"} 1`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="input_cache_write"} 1`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="output"} 1`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="reasoning"} 1`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="input"} 10000`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="input_cache_read"} 9000`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="input_cache_write"} 700`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="output"} 250`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="claude",gen_ai_request_model="sonnet",gen_ai_response_model="sonnet",gen_ai_token_type="reasoning"} 100`,
			`warmpath_cache_write_tokens_total{model="sonnet",provider="claude",ttl="1h"} 150`,
			`warmpath_cache_write_tokens_total{model="sonnet",provider="claude",ttl="5m"} 500`,
			`warmpath_cache_write_tokens_total{model="sonnet",provider="claude",ttl="unknown"} 50`,
			`warmpath_cost_usd_total{kind="fresh",model="sonnet",provider="claude"} 0.5`,
			`warmpath_cost_usd_total{kind="hosted",model="sonnet",provider="claude"} 0.125`,
			`warmpath_cost_usd_total{kind="output",model="sonnet",provider="claude"} 3`,
			`warmpath_cost_usd_total{kind="read",model="sonnet",provider="claude"} 0.25`,
			`warmpath_cost_usd_total{kind="write",model="sonnet",provider="claude"} 2`,
			`warmpath_input_tokens_total{cache="none",model="sonnet",provider="claude"} 300`,
			`warmpath_input_tokens_total{cache="read",model="sonnet",provider="claude"} 9000`,
			`warmpath_input_tokens_total{cache="write",model="sonnet",provider="claude"} 700`,
			`warmpath_overhead_seconds_count{path="through"} 1`,
			`warmpath_overhead_seconds_sum{path="through"} 8e-05`,
			`warmpath_provider_cache_requests_total{model="sonnet",outcome="hit",provider="claude"} 1`,
			`warmpath_requests_total{dialect="messages",provider="claude",reason="none",status="2xx"} 1`,
			`warmpath_stream_gap_seconds_count{model="sonnet",provider="claude"} 1`,
			`warmpath_stream_gap_seconds_sum{model="sonnet",provider="claude"} 3`,
			`warmpath_time_to_first_token_seconds_count{model="sonnet",provider="claude"} 1`,
			`warmpath_time_to_first_token_seconds_sum{model="sonnet",provider="claude"} 0.7`,
		}},
		"a provider that does not report its cache": {rewrite.Gemini, "google", "flash", silent, []string{
			`gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="generate_content",gen_ai_provider_name="google",gen_ai_request_model="flash"} 1`,
			`gen_ai_client_operation_duration_seconds_sum{gen_ai_operation_name="generate_content",gen_ai_provider_name="google",gen_ai_request_model="flash"} 9`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="generate_content",gen_ai_provider_name="google",gen_ai_request_model="flash",gen_ai_response_model="sonnet",gen_ai_token_type="input"} 1`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="generate_content",gen_ai_provider_name="google",gen_ai_request_model="flash",gen_ai_response_model="sonnet",gen_ai_token_type="output"} 1`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="generate_content",gen_ai_provider_name="google",gen_ai_request_model="flash",gen_ai_response_model="sonnet",gen_ai_token_type="input"} 5000`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="generate_content",gen_ai_provider_name="google",gen_ai_request_model="flash",gen_ai_response_model="sonnet",gen_ai_token_type="output"} 9`,
			`warmpath_cost_usd_total{kind="charged",model="flash",provider="google"} 5`,
			`warmpath_overhead_seconds_count{path="through"} 1`,
			`warmpath_overhead_seconds_sum{path="through"} 8e-05`,
			`warmpath_provider_cache_requests_total{model="flash",outcome="unreported",provider="google"} 1`,
			`warmpath_requests_total{dialect="gemini",provider="google",reason="none",status="2xx"} 1`,
			`warmpath_time_to_first_token_seconds_count{model="flash",provider="google"} 1`,
			`warmpath_time_to_first_token_seconds_sum{model="flash",provider="google"} 0.7`,
			`warmpath_unpriced_requests_total{model="flash",provider="google"} 1`,
		}},
		"an error of the provider is no cache outcome": {rewrite.Messages, "claude", "sonnet", broken, []string{
			`warmpath_overhead_seconds_count{path="through"} 1`,
			`warmpath_overhead_seconds_sum{path="through"} 8e-05`,
			`warmpath_requests_total{dialect="messages",provider="claude",reason="provider",status="5xx"} 1`,
		}},
		"a client that left in the middle": {rewrite.Responses, "openai", "mini", gone, []string{
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="mini",gen_ai_response_model="sonnet",gen_ai_token_type="output"} 1`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="mini",gen_ai_response_model="sonnet",gen_ai_token_type="output"} 7`,
			`warmpath_overhead_seconds_count{path="through"} 1`,
			`warmpath_overhead_seconds_sum{path="through"} 8e-05`,
			`warmpath_requests_total{dialect="responses",provider="openai",reason="client_gone",status="4xx"} 1`,
			`warmpath_stream_gap_seconds_count{model="mini",provider="openai"} 1`,
			`warmpath_stream_gap_seconds_sum{model="mini",provider="openai"} 3`,
			`warmpath_time_to_first_token_seconds_count{model="mini",provider="openai"} 1`,
			`warmpath_time_to_first_token_seconds_sum{model="mini",provider="openai"} 0.7`,
			`warmpath_unpriced_requests_total{model="mini",provider="openai"} 1`,
		}},
		"refused before a provider was known": {
			rewrite.Completions, "", "",
			metrics.Sample{Reason: rewrite.ReasonUnauthorized, Usage: warm().Usage}, // Status 0: the reason's counts.
			[]string{`warmpath_requests_total{dialect="chat",provider="none",reason="unauthorized",status="4xx"} 1`},
		},
		"opaque traffic": {
			rewrite.Opaque, "openai", "mini",
			metrics.Sample{Status: 200, Usage: warm().Usage, Path: metrics.PathSplice, Overhead: time.Millisecond},
			[]string{
				`warmpath_overhead_seconds_count{path="splice"} 1`,
				`warmpath_overhead_seconds_sum{path="splice"} 0.001`,
				`warmpath_requests_total{dialect="opaque",provider="openai",reason="none",status="2xx"} 1`,
			},
		},
		"names from outside": {
			rewrite.Completions, "evil\nprovider", "evil model",
			metrics.Sample{Status: 404, Reason: rewrite.ReasonProvider},
			[]string{`warmpath_requests_total{dialect="chat",provider="other",reason="provider",status="4xx"} 1`},
		},
		"numbers that contradict each other": {rewrite.Completions, "openai", "mini", inconsistent, []string{
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="mini",gen_ai_response_model="mini",gen_ai_token_type="input"} 1`,
			`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="mini",gen_ai_response_model="mini",gen_ai_token_type="input_cache_read"} 1`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="mini",gen_ai_response_model="mini",gen_ai_token_type="input"} 10`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="mini",gen_ai_response_model="mini",gen_ai_token_type="input_cache_read"} 40`,
			`warmpath_cache_write_tokens_total{model="mini",provider="openai",ttl="5m"} 3`,
			`warmpath_input_tokens_total{cache="read",model="mini",provider="openai"} 40`,
			`warmpath_provider_cache_requests_total{model="mini",outcome="unreported",provider="openai"} 1`,
			`warmpath_requests_total{dialect="chat",provider="openai",reason="none",status="2xx"} 1`,
			`warmpath_unpriced_requests_total{model="mini",provider="openai"} 1`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, reg := newMetrics(t, []string{"claude", "openai", "google"}, []string{"sonnet", "mini", "flash"})
			m.Handle(tt.dialect, tt.provider, tt.model).Done(tt.sample)
			if diff := cmp.Diff(tt.want, scrape(t, reg)); diff != "" {
				t.Errorf("series that are not zero (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGauges(t *testing.T) {
	m, reg := newMetrics(t, []string{"openai"}, nil)
	m.Enter()
	m.Enter()
	m.Leave()
	m.StreamOpened()
	m.StreamOpened()
	m.StreamOpened()
	m.StreamClosed()
	m.BodyBytes(1000)
	m.BodyBytes(-300)
	m.RetryUpstream("openai", rewrite.ReasonUnreachable)
	m.RetryUpstream("openai", rewrite.ReasonUnreachable)
	m.RetryUpstream("elsewhere", rewrite.ReasonProvider)
	want := []string{
		`warmpath_inflight 1`,
		`warmpath_inflight_body_bytes 700`,
		`warmpath_streams_open 2`,
		`warmpath_upstream_retries_total{provider="openai",reason="unreachable"} 2`,
		`warmpath_upstream_retries_total{provider="other",reason="provider"} 1`,
	}
	if diff := cmp.Diff(want, scrape(t, reg)); diff != "" {
		t.Errorf("series that are not zero (-want +got):\n%s", diff)
	}
}

func TestReconfigure(t *testing.T) {
	m, reg := newMetrics(t, []string{"old"}, []string{"a"})
	before := m.Handle(rewrite.Messages, "old", "a")
	before.Done(metrics.Sample{Status: 200})

	m.Reconfigure([]string{"old", "new"}, []string{"b", "a"})
	before.Done(metrics.Sample{Status: 200}) // A request from before the reload ends after it.
	m.Handle(rewrite.Messages, "old", "a").Done(metrics.Sample{Status: 200})
	m.Handle(rewrite.Messages, "new", "b").Done(metrics.Sample{Status: 200})

	got := slices.DeleteFunc(scrape(t, reg), func(line string) bool { return !strings.HasPrefix(line, "warmpath_requests_total") })
	want := []string{
		`warmpath_requests_total{dialect="messages",provider="new",reason="none",status="2xx"} 1`,
		`warmpath_requests_total{dialect="messages",provider="old",reason="none",status="2xx"} 3`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Handles are made, used and replaced at the same time; the race detector
// watches and no count may be lost.
func TestConcurrentUse(t *testing.T) {
	m, reg := newMetrics(t, []string{"p"}, []string{"a", "b"})
	const workers, each = 8, 200
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if w == 0 && i%20 == 0 {
					m.Reconfigure([]string{"p"}, []string{"a", "b"})
				}
				m.Handle(rewrite.Messages, "p", []string{"a", "b"}[i%2]).Done(metrics.Sample{Status: 200, Cache: rewrite.CacheMiss})
			}
		})
	}
	wg.Wait()
	got := 0.0
	for _, n := range values(t, reg, "warmpath_provider_cache_requests_total") {
		got += n
	}
	if got != workers*each {
		t.Errorf("counted %v requests, want %d", got, workers*each)
	}
}

func values(t *testing.T, reg *prometheus.Registry, name string) []float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var n []float64
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				n = append(n, m.GetCounter().GetValue())
			}
		}
	}
	return n
}

// What can happen is visible as zero before it happens, so that the first
// failure is an increase.
func TestZeroIsVisible(t *testing.T) {
	m, reg := newMetrics(t, []string{"openai"}, []string{"mini"})
	text := exposition(t, reg)
	for _, want := range []string{
		`warmpath_requests_total{dialect="chat",provider="none",reason="unauthorized",status="4xx"} 0`,
		`warmpath_requests_total{dialect="chat",provider="openai",reason="none",status="2xx"} 0`,
		`warmpath_requests_total{dialect="chat",provider="openai",reason="provider",status="4xx"} 0`,
		`warmpath_requests_total{dialect="chat",provider="openai",reason="provider",status="5xx"} 0`,
		`warmpath_requests_total{dialect="messages",provider="openai",reason="stream_cut",status="2xx"} 0`,
		`warmpath_requests_total{dialect="messages",provider="openai",reason="stream_cut",status="5xx"} 0`,
		`warmpath_upstream_retries_total{provider="openai",reason="upstream_broken"} 0`,
		`warmpath_inflight 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("after New, no %s", want)
		}
	}
	if strings.Contains(text, `model="`) {
		t.Error("after New, a model has series before any request named it")
	}

	// Who asks every provider for every model makes no series of models.
	m.Handle(rewrite.Completions, "openai", "mini").Done(metrics.Sample{Status: 404, Reason: rewrite.ReasonProvider})
	if text = exposition(t, reg); strings.Contains(text, `model="`) {
		t.Error("a model has series that its provider has never answered for")
	}
	m.Handle(rewrite.Completions, "openai", "mini").Done(metrics.Sample{Status: 200})
	text = exposition(t, reg)
	for _, want := range []string{
		`warmpath_provider_cache_requests_total{model="mini",outcome="miss",provider="openai"} 0`,
		`warmpath_input_tokens_total{cache="read",model="mini",provider="openai"} 0`,
		`warmpath_cache_write_tokens_total{model="mini",provider="openai",ttl="12h"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("after the first reply, no %s", want)
		}
	}
}

// HA-01 to HA-04, HA-07: transitions are counted, and what was begun and not
// finished once the reply is over.
func TestHosted(t *testing.T) {
	activities := []rewrite.HostedActivity{
		{Name: "web_search", Began: true, State: rewrite.HostedCompleted},
		{Name: "web_search", State: rewrite.HostedCompleted},
		{Name: "web_fetch", Began: true, State: rewrite.HostedFailed},
		{Name: "code_execution", Began: true},
	}
	counted := []string{
		`warmpath_citations_total{provider="claude",state="complete"} 4`,
		`warmpath_citations_total{provider="claude",state="incomplete"} 2`,
		`warmpath_citations_total{provider="claude",state="range_dropped"} 1`,
		`warmpath_hosted_activity_total{name="code_execution",provider="claude",state="started"} 1`,
		`warmpath_hosted_activity_total{name="web_fetch",provider="claude",state="failed"} 1`,
		`warmpath_hosted_activity_total{name="web_fetch",provider="claude",state="started"} 1`,
		`warmpath_hosted_activity_total{name="web_search",provider="claude",state="completed"} 2`,
		`warmpath_hosted_activity_total{name="web_search",provider="claude",state="started"} 1`,
	}
	abandoned := slices.Insert(slices.Clone(counted), 3, `warmpath_hosted_activity_total{name="code_execution",provider="claude",state="abandoned"} 1`)
	for name, test := range map[string]struct {
		stop rewrite.StopReason
		want []string
	}{
		"ended":                     {rewrite.StopEnd, abandoned},
		"cut":                       {rewrite.StopUnknown, abandoned},
		"paused":                    {rewrite.StopPause, counted},
		"waits for a client's tool": {rewrite.StopTools, counted},
	} {
		t.Run(name, func(t *testing.T) {
			m, reg := newMetrics(t, []string{"claude"}, nil)
			m.Hosted("claude", &rewrite.Report{Stop: test.stop, Activity: &rewrite.Activity{Hosted: activities, Cited: 4, Citing: 2, RangesDropped: 1}})
			m.Hosted("claude", &rewrite.Report{})
			if diff := cmp.Diff(test.want, scrape(t, reg)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNamesAreLintFree(t *testing.T) {
	// One series of each is enough: promtool needs seconds for thousands.
	m, reg := newMetrics(t, []string{"p"}, []string{"m"})
	m.Handle(rewrite.Messages, "p", "m").Done(warm())
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}

	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("WARMPATH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("promtool is not installed")
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(exposition(t, reg))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	m, _ := newMetrics(t, []string{"claude"}, []string{"sonnet"})
	for _, model := range []string{"sonnet", "a model nobody configured"} {
		s := warm()
		run := func() {
			m.Enter()
			m.StreamOpened()
			m.BodyBytes(5000)
			m.Handle(rewrite.Messages, "claude", model).Done(s)
			m.BodyBytes(-5000)
			m.StreamClosed()
			m.Leave()
		}
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("model %q: %v allocations a request, want 0", model, n)
		}
	}
}

func TestNewRegistryDescribesTheProcess(t *testing.T) {
	reg := metrics.NewRegistry()
	metrics.New(reg, nil, nil)
	text := exposition(t, reg)
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", `warmpath_build_info{goversion="go`} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}

func BenchmarkDone(b *testing.B) {
	m := metrics.New(prometheus.NewRegistry(), []string{"claude"}, []string{"sonnet"})
	s := warm()
	b.ReportAllocs()
	for b.Loop() {
		m.Handle(rewrite.Messages, "claude", "sonnet").Done(s)
	}
}
