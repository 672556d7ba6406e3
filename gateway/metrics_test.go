package gateway_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warmpath/fixtures/series"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// uncounted are values of labels that no situation here brings about, with the reason.
var uncounted = map[string]string{
	`warmpath_cache_break_tokens_total{reason="cold_start"}`:     "nothing was there",
	`warmpath_cache_break_tokens_total{reason="below_minimum"}`:  "nothing was there",
	`warmpath_cache_break_tokens_total{reason="unknown"}`:        "nobody knows what was there",
	`warmpath_cache_break_tokens_total{by="unknown"}`:            "nobody knows what was there",
	`warmpath_hosted_activity_total{name="computer"}`:            "clients run it: the name is for losses",
	`warmpath_hosted_activity_total{name="shell"}`:               "clients run it: the name is for losses",
	`warmpath_cache_breaks_total{reason="ttl_expiry"}`:           "minutes pass: gateway/relay, TestExpiryIsTheReason",
	`warmpath_cache_break_tokens_total{reason="ttl_expiry"}`:     "minutes pass: gateway/relay, TestExpiryIsTheReason",
	`warmpath_cache_breaks_total{reason="person_awaited"}`:       "minutes pass: gateway/relay, TestAWaitIsTheReason",
	`warmpath_cache_break_tokens_total{reason="person_awaited"}`: "minutes pass: gateway/relay, TestAWaitIsTheReason",
}

// countingTest is the test whose gateways are watched.
const countingTest = "TestEveryMetricIsCounted"

// watched are what the gateways of that test have counted.
var watched struct {
	sync.Mutex
	pages []watchedPage
}

type watchedPage struct {
	text  string
	names series.Names
}

// watch keeps what a gateway has counted when its test is over.
func watch(t testing.TB, g *gateway.Gateway, cfg *config.Config) {
	if root, _, _ := strings.Cut(t.Name(), "/"); root == countingTest {
		keepPage(counts(g, true), cfg)
	}
}

// watchNow keeps what a gateway counts while something is under way.
func watchNow(g *gateway.Gateway, cfg *config.Config) { keepPage(counts(g, false), cfg) }

func keepPage(text string, cfg *config.Config) {
	names := series.Names{Providers: cfg.Catalog.Providers(), Models: cfg.Catalog.Models()}
	for _, server := range cfg.MCP {
		names.Servers = append(names.Servers, server.Name)
	}
	watched.Lock()
	defer watched.Unlock()
	watched.pages = append(watched.pages, watchedPage{text, names})
}

// counts is a gateway's page of metrics, in the end once nothing is under way. It is
// empty if there is none any more.
func counts(g *gateway.Gateway, last bool) string {
	page := ""
	for range 200 {
		resp, err := http.Get("http://" + g.AdminAddr() + "/metrics")
		if err != nil {
			return ""
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		page = string(text)
		if !last || strings.Contains(page, "\nwarmpath_inflight 0\n") && strings.Contains(page, "\nwarmpath_streams_open 0\n") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return page
}

// Every metric, and every value of its labels, is counted in some situation; no label
// has a value outside its closed set in any.
func TestEveryMetricIsCounted(t *testing.T) {
	t.Run("situations", func(t *testing.T) {
		for _, all := range []map[string]func(*testing.T){ofCaches, ofFailures, ofTraffic, ofPeople} {
			for name, play := range all {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					play(t)
				})
			}
		}
	})
	counted := map[string]bool{}
	for _, page := range watched.pages {
		samples, err := series.Read(page.text)
		if err != nil {
			t.Fatal(err)
		}
		all := series.Metrics(&page.names)
		for _, problem := range series.Problems(all, samples) {
			t.Error(problem)
		}
		maps.Copy(counted, series.Counted(all, samples))
	}
	values := append(series.Values(series.Metrics(&series.Names{}), false),
		`warmpath_requests_total{provider="none"}`, `warmpath_input_tokens_total{model="other"}`, `gen_ai_client_token_usage{gen_ai_response_model="other"}`)
	for _, value := range values {
		switch why, excepted := uncounted[value]; {
		case !counted[value] && !excepted:
			t.Errorf("%s is never counted", value)
		case counted[value] && excepted:
			t.Errorf("%s is counted, although %s", value, why)
		}
	}
	for value := range uncounted {
		if !slices.Contains(values, value) {
			t.Errorf("there is no %s", value)
		}
	}
}

// asksFor sends a request and wants a status.
func asksFor(t *testing.T, status int, url, body string, header ...string) string {
	t.Helper()
	resp, got := send(t, "POST", url, body, header...)
	if resp.StatusCode != status {
		t.Fatalf("%s: status %d, want %d: %s", url, resp.StatusCode, status, got)
	}
	return got
}
