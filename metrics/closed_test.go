package metrics_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warmpath/fixtures/series"
	"warmpath/metrics"
	"warmpath/rewrite"
)

// exercise counts everything that can be counted, under all labels that it can have.
func exercise(m *metrics.Metrics, n *series.Names) {
	providers, models := append([]string{"stranger"}, n.Providers...), append([]string{"stranger"}, n.Models...)
	for _, provider := range append([]string{""}, providers...) {
		for _, dialect := range rewrite.Dialects {
			h := m.Handle(dialect, provider, "")
			for _, reason := range rewrite.Reasons {
				for _, status := range []int{0, 100, 200, 302, 404, 500, 999} {
					h.Done(metrics.Sample{Status: status, Reason: reason, Path: metrics.PathSplice})
				}
			}
		}
	}
	for _, provider := range providers {
		for _, model := range models {
			m.Saved(provider, model, 1)
			m.SavedDollars(provider, model, 1)
			for _, dialect := range rewrite.Dialects {
				h := m.Handle(dialect, provider, model)
				for _, reply := range append([]string{""}, models...) {
					for _, outcome := range rewrite.CacheOutcomes {
						s := warm()
						s.ResponseModel, s.Cost.Charged, s.Cost.Least = reply, rewrite.Dollar, true
						s.Cache, s.Usage.CacheWrite30m, s.Usage.CacheWrite12h = outcome, rewrite.Tokens(1), rewrite.Tokens(1)
						h.Done(s)
					}
				}
			}
		}
		for _, reason := range metrics.Retried {
			m.RetryUpstream(provider, reason)
		}
		m.FellBack(provider)
		m.Hosted(provider, everyActivity())
	}
	for _, path := range metrics.Paths {
		m.Handle(rewrite.Messages, "", "").Done(metrics.Sample{Reason: rewrite.ReasonInternal, Path: path, Overhead: time.Second})
	}
	exerciseOthers(m, n)
}

// exerciseOthers counts what has nothing to do with providers and models.
func exerciseOthers(m *metrics.Metrics, n *series.Names) {
	each(metrics.EditKinds, m.Edited)
	each(metrics.EditKinds, m.Observed)
	each(metrics.EpochReasons, m.Epoch)
	each(metrics.Retreats, m.Retreated)
	each(metrics.UnplannedReasons, m.Unplanned)
	each(metrics.LedgerOutcomes, m.Ledger)
	each(metrics.LogFailures, m.LogFailed)
	each(metrics.PromptSharingOps, m.PromptSharingFailed)
	each(metrics.DroppedReasons, func(reason string) { m.BlocksDropped(reason, 1) })
	each(metrics.StoreOps, func(op string) {
		m.StoreAnswered(op, time.Millisecond)
		each(metrics.StoreReasons, func(reason string) { m.StoreFailed(op, reason) })
	})
	each(metrics.ToolSources, func(source string) { m.ToolRan(source, true); m.ToolRan(source, false) })
	each(metrics.PromptKinds, func(kind string) {
		each(metrics.PromptOutcomes, func(outcome string) { m.PromptDone(kind, outcome, time.Second) })
	})
	each(n.Servers, func(server string) {
		m.ServerUp(server, true)
		each(metrics.ServerOutcomes, func(outcome string) { m.ServerCalled(server, outcome, time.Second) })
	})
	each(metrics.MissReasons, func(reason string) {
		each(metrics.MissSources, func(source string) {
			each(metrics.MissCausers, func(by string) { m.Broke(reason, source, by, 1) })
		})
	})
	for _, client := range rewrite.Dialects {
		for _, provider := range rewrite.ProviderDialects {
			each(metrics.LossSides, func(side string) {
				if client != rewrite.Opaque {
					m.Lost(client, provider, side, 1)
				}
			})
		}
	}
	m.ColdWaited()
	m.Placeheld()
	m.ToolRound()
	m.Logged(1)
	m.PromptOpened()
	m.Enter()
	m.StreamOpened()
	m.BodyBytes(1)
}

func each(words []string, count func(string)) {
	for _, word := range words {
		count(word)
	}
}

// everyActivity has every kind of activity in every state.
func everyActivity() *rewrite.Report {
	r := &rewrite.Report{Activity: &rewrite.Activity{Cited: 1, Citing: 1, RangesDropped: 1}}
	for _, name := range rewrite.Capabilities {
		for _, state := range []rewrite.HostedState{rewrite.HostedStarted, rewrite.HostedCompleted, rewrite.HostedFailed} {
			r.Activity.Hosted = append(r.Activity.Hosted, rewrite.HostedActivity{Name: name, Began: true, State: state})
		}
	}
	return r
}

// Every metric has the labels and no values but those of its closed sets, all of them
// can be counted, and there are no more series than is said in the worst case.
func TestLabelsAreClosed(t *testing.T) {
	n := &series.Names{Providers: []string{"p1", "p2"}, Models: []string{"m1", "m2", "m3", "m4"}, Servers: []string{"s1", "s2"}}
	m, reg := newMetrics(t, append([]string{"other", "none"}, n.Providers...), append([]string{"m1"}, n.Models...))
	exercise(m, n)
	samples, err := series.Read(exposition(t, reg))
	if err != nil {
		t.Fatal(err)
	}
	all := series.Metrics(n)
	for _, problem := range series.Problems(all, samples) {
		t.Error(problem)
	}
	counted := series.Counted(all, samples)
	for _, value := range series.Values(all, true) {
		if !counted[value] {
			t.Errorf("%s is never counted", value)
		}
	}
	got := map[string]int{}
	for _, s := range samples {
		got[strings.NewReplacer("_bucket", "", "_sum", "", "_count", "").Replace(s.Name)]++
	}
	for i := range all {
		most := all[i].Most()
		// Reasons have their own statuses, and no model answers under all names at once.
		least := map[string]int{"warmpath_requests_total": most / 2}[all[i].Name]
		if n := got[all[i].Name]; n > most || n < max(least, most*9/10) && least == 0 || n < least {
			t.Errorf("%s has %d series, want %d", all[i].Name, n, most)
		}
	}
}

// What nobody has foreseen is counted under no name of its own: it is a fault.
func TestStrangeWordsAreNotCounted(t *testing.T) {
	m, _ := newMetrics(t, nil, nil)
	for name, count := range map[string]func(){
		"edit": func() { m.Edited("x") }, "observed": func() { m.Observed("x") }, "epoch": func() { m.Epoch("x") },
		"retreat": func() { m.Retreated("x") }, "unplanned": func() { m.Unplanned("x") }, "ledger": func() { m.Ledger("x") },
		"log": func() { m.LogFailed("x") }, "sharing": func() { m.PromptSharingFailed("x") }, "dropped": func() { m.BlocksDropped("x", 1) },
		"store": func() { m.StoreFailed("x", "open") }, "store's reason": func() { m.StoreFailed("get", "x") },
		"answer": func() { m.StoreAnswered("x", 1) }, "source": func() { m.ToolRan("x", true) },
		"kind": func() { m.PromptDone("x", "answered", 0) }, "outcome": func() { m.PromptDone("run", "x", 0) },
		"call": func() { m.ServerCalled("s", "x", 0) }, "miss": func() { m.Broke("x", "gateway", "client", 1) },
		"side":  func() { m.Lost(rewrite.Messages, rewrite.Gemini, "x", 1) },
		"retry": func() { m.RetryUpstream("p", rewrite.ReasonInternal) },
		"hosted": func() {
			m.Hosted("p", &rewrite.Report{Activity: &rewrite.Activity{Hosted: []rewrite.HostedActivity{{Name: "x", Began: true}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if fault := recover(); fault == nil || !strings.HasPrefix(fmt.Sprint(fault), "BUG: ") {
					t.Errorf("it ended with %v", fault)
				}
			}()
			count()
		})
	}
}

// A model that answers under many names has series for some of them.
func TestRoutersAnswerUnderManyNames(t *testing.T) {
	var models []string
	for i := range 20 {
		models = append(models, fmt.Sprintf("m%d", i))
	}
	m, reg := newMetrics(t, []string{"p"}, models)
	for _, dialect := range []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses} {
		for i := range models {
			s := warm()
			s.ResponseModel = models[len(models)-1-i]
			m.Handle(dialect, "p", "m0").Done(s)
		}
	}
	samples, err := series.Read(exposition(t, reg))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range samples {
		if s.Name == "gen_ai_client_token_usage_count" && s.Labels["gen_ai_token_type"] == "input" {
			names = append(names, fmt.Sprint(s.Labels["gen_ai_response_model"], " ", s.Value))
		}
	}
	slices.Sort(names)
	if got, want := strings.Join(names, ", "), "m0 3, m18 3, m19 3, other 51"; got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
}

// FuzzLabels counts under names of strangers.
func FuzzLabels(f *testing.F) {
	f.Add("anthropic", "claude-opus-5-5", "claude-opus-5-5-20260101", uint8(0), 200)
	f.Add("none", "other", "\xff\n\"{}", uint8(4), -1)
	n := &series.Names{Providers: []string{"p"}, Models: []string{"m"}}
	all := series.Metrics(n)
	f.Fuzz(func(t *testing.T, provider, model, reply string, dialect uint8, status int) {
		m, reg := newMetrics(t, n.Providers, n.Models)
		s := warm()
		s.ResponseModel, s.Status, s.Reason = reply, status, rewrite.Reasons[int(dialect)%len(rewrite.Reasons)]
		m.Handle(rewrite.Dialects[int(dialect)%len(rewrite.Dialects)], provider, model).Done(s)
		m.Saved(named(provider), named(model), 1)
		m.RetryUpstream(named(provider), rewrite.ReasonProvider)
		m.FellBack(named(provider))
		samples, err := series.Read(exposition(t, reg))
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range series.Problems(all, samples) {
			t.Error(problem)
		}
	})
}

// named is a name that is known by then.
func named(name string) string { return cmp.Or(name, "p") }
