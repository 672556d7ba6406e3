package console

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// numbers is what the page shows, read from the metrics: what Prometheus sees
// and what people see cannot differ.
type numbers struct {
	Requests, Failed      int64
	InFlight, StreamsOpen int64
	Input, Output         int64
	Cache                 cacheTokens
	// Overhead is the bound in seconds below which 99 of 100 requests took the
	// gateway's own time; 0 if there was none.
	Overhead float64
	Models   []modelNumbers
	Reasons  []reasonCount
	Misses   []missCount
	// Saved is an estimate of the input tokens read from the cache that would have
	// been processed again without the gateway's edits.
	Saved int64
	// Cost is in US dollars, by the price table, and SavedCost an estimate of what
	// Saved would have cost more. Unpriced are calls with something in them whose
	// price is not known.
	Cost, SavedCost float64
	Unpriced        int64
	Spent           spent
	Hosted          []hostedCount
}

// spent is money in US dollars by what it was for, in the order of metrics.CostKinds.
type spent map[string]float64

// modelNumbers are one provider's replies of one model.
type modelNumbers struct {
	Provider, Model string
	Replies         int64
	Input, Output   int64
	Cache           cacheTokens
	Outcomes        map[string]int64
	Cost, SavedCost float64
	Unpriced        int64
	Spent           spent
}

// cacheTokens are input tokens by what the provider's prompt cache did, where
// the provider reports it.
type cacheTokens struct{ Read, Write, Fresh int64 }

func (c cacheTokens) total() int64 { return c.Read + c.Write + c.Fresh }

type reasonCount struct {
	Reason string
	Count  int64
}

// hostedCount counts how the activities of one kind of tools that providers run
// have gone.
type hostedCount struct {
	Name   string
	States map[string]int64
}

// missCount counts requests that found less in the provider's cache than they
// might have, and the tokens that were processed again for it.
type missCount struct {
	Reason, By    string
	Count, Tokens int64
}

func numbersOf(g prometheus.Gatherer) (*numbers, error) {
	families, err := g.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather metrics: %w", err)
	}
	n := &numbers{Spent: spent{}}
	models := map[[2]string]*modelNumbers{}
	reasons := map[string]int64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			n.add(family.GetName(), series, models, reasons)
		}
	}
	for _, m := range models {
		if m.Replies > 0 || m.Input > 0 || m.Output > 0 {
			n.Models = append(n.Models, *m)
		}
	}
	slices.SortFunc(n.Models, func(a, b modelNumbers) int {
		return cmp.Or(cmp.Compare(b.Input, a.Input), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	for reason, count := range reasons {
		n.Reasons = append(n.Reasons, reasonCount{reason, count})
	}
	slices.SortFunc(n.Reasons, func(a, b reasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	n.Misses = slices.DeleteFunc(n.Misses, func(m missCount) bool { return m.Count == 0 })
	slices.SortFunc(n.Misses, func(a, b missCount) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.By, b.By))
	})
	n.Hosted = slices.DeleteFunc(n.Hosted, func(h hostedCount) bool { return len(h.States) == 0 })
	slices.SortFunc(n.Hosted, func(a, b hostedCount) int { return cmp.Compare(a.Name, b.Name) })
	return n, nil
}

// hosted is the row of a kind of tools.
func (n *numbers) hosted(name string) *hostedCount {
	i := slices.IndexFunc(n.Hosted, func(h hostedCount) bool { return h.Name == name })
	if i < 0 {
		i = len(n.Hosted)
		n.Hosted = append(n.Hosted, hostedCount{Name: name, States: map[string]int64{}})
	}
	return &n.Hosted[i]
}

// miss is the row of a reason and whose doing it was.
func (n *numbers) miss(reason, by string) *missCount {
	i := slices.IndexFunc(n.Misses, func(m missCount) bool { return m.Reason == reason && m.By == by })
	if i < 0 {
		i = len(n.Misses)
		n.Misses = append(n.Misses, missCount{Reason: reason, By: by})
	}
	return &n.Misses[i]
}

// add takes one series into account; the names are those of package metrics.
func (n *numbers) add(name string, series *dto.Metric, models map[[2]string]*modelNumbers, reasons map[string]int64) {
	label := func(name string) string {
		for _, l := range series.GetLabel() {
			if l.GetName() == name {
				return l.GetValue()
			}
		}
		return ""
	}
	model := func(provider, model string) *modelNumbers {
		key := [2]string{label(provider), label(model)}
		if models[key] == nil {
			models[key] = &modelNumbers{Provider: key[0], Model: key[1], Outcomes: map[string]int64{}, Spent: spent{}}
		}
		return models[key]
	}
	count := int64(series.GetCounter().GetValue())
	switch name {
	case "warmpath_requests_total":
		n.Requests += count
		if reason := label("reason"); reason != "none" && count > 0 {
			n.Failed += count
			reasons[reason] += count
		}
	case "warmpath_cache_breaks_total":
		n.miss(label("reason"), label("by")).Count += count
	case "warmpath_cache_break_tokens_total":
		n.miss(label("reason"), label("by")).Tokens += count
	case "warmpath_saved_tokens_total":
		n.Saved += count
	case "warmpath_cost_usd_total":
		amount := series.GetCounter().GetValue()
		n.Cost += amount
		n.Spent[label("kind")] += amount
		m := model("provider", "model")
		m.Cost += amount
		m.Spent[label("kind")] += amount
	case "warmpath_saved_usd_total":
		n.SavedCost += series.GetCounter().GetValue()
		model("provider", "model").SavedCost += series.GetCounter().GetValue()
	case "warmpath_unpriced_requests_total":
		n.Unpriced += count
		model("provider", "model").Unpriced += count
	case "warmpath_hosted_activity_total":
		if count > 0 {
			n.hosted(label("name")).States[label("state")] += count
		}
	case "warmpath_inflight":
		n.InFlight = int64(series.GetGauge().GetValue())
	case "warmpath_streams_open":
		n.StreamsOpen = int64(series.GetGauge().GetValue())
	case "warmpath_overhead_seconds":
		n.Overhead = max(n.Overhead, bound(series.GetHistogram(), 0.99))
	case "warmpath_provider_cache_requests_total":
		m := model("provider", "model")
		m.Replies += count
		m.Outcomes[label("outcome")] += count
	case "warmpath_input_tokens_total":
		m := model("provider", "model")
		m.Cache.add(label("cache"), count)
		n.Cache.add(label("cache"), count)
	case "gen_ai_client_token_usage":
		m := model("gen_ai_provider_name", "gen_ai_request_model")
		tokens := int64(series.GetHistogram().GetSampleSum())
		switch label("gen_ai_token_type") {
		case "input":
			m.Input += tokens
			n.Input += tokens
		case "output":
			m.Output += tokens
			n.Output += tokens
		}
	}
}

func (c *cacheTokens) add(kind string, tokens int64) {
	switch kind {
	case "read":
		c.Read += tokens
	case "write":
		c.Write += tokens
	case "none":
		c.Fresh += tokens
	}
}

// bound is the upper end of the bucket that a quantile falls in, and that of
// the last finite one where it falls beyond.
func bound(h *dto.Histogram, quantile float64) float64 {
	if h.GetSampleCount() == 0 {
		return 0
	}
	upper := 0.0
	for _, b := range h.GetBucket() {
		upper = b.GetUpperBound()
		if float64(b.GetCumulativeCount()) >= quantile*float64(h.GetSampleCount()) {
			break
		}
	}
	return upper
}
