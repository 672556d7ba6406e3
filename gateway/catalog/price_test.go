package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/catalog"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

// used is a usage by its buckets.
func used(fresh, read, write, output int64) rewrite.Usage {
	return rewrite.Usage{
		InputTotal: rewrite.Tokens(fresh + read + write), InputFresh: rewrite.Tokens(fresh),
		CacheRead: rewrite.Tokens(read), CacheWrite: rewrite.Tokens(write), OutputTotal: rewrite.Tokens(output),
	}
}

// PB-24: four buckets, each at its own price, in a region that costs a tenth more.
func TestPB24CostHasFourBuckets(t *testing.T) {
	const model = "eu.anthropic.claude-opus-4-5-20251101-v1:0"
	bedrock := &catalog.Provider{Name: "aws", Endpoint: "bedrock"}
	for name, test := range map[string]struct {
		model, lifetimes string
		want             rewrite.Cost
	}{
		// 10 × $5, 66,360 × $0.50, 32,435 × $6.25 for a million each, and a tenth.
		"PB-24 five minutes": {model, `{"ephemeral_5m_input_tokens":32435,"ephemeral_1h_input_tokens":0}`,
			rewrite.Cost{Fresh: 55_000_000, Read: 36_498_000_000, Write: 222_990_625_000, Known: true}},
		"PB-24 one hour": {model, `{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":32435}`,
			rewrite.Cost{Fresh: 55_000_000, Read: 36_498_000_000, Write: 356_785_000_000, Known: true}},
		"PB-24 both": {model, `{"ephemeral_5m_input_tokens":32000,"ephemeral_1h_input_tokens":435}`,
			rewrite.Cost{Fresh: 55_000_000, Read: 36_498_000_000, Write: 224_785_000_000, Known: true}},
		"PB-24 lifetime not told": {model, `null`,
			rewrite.Cost{Fresh: 55_000_000, Read: 36_498_000_000, Write: 222_990_625_000, Known: true}},
		"PB-24 everywhere": {"global.anthropic.claude-opus-4-5-20251101-v1:0", `null`,
			rewrite.Cost{Fresh: 50_000_000, Read: 33_180_000_000, Write: 202_718_750_000, Known: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var r rewrite.Report
			anthropic.ReadReply([]byte(`{"type":"message","model":"claude-opus-4-5-20251101","content":[],"usage":{"input_tokens":10,`+
				`"cache_read_input_tokens":66360,"cache_creation_input_tokens":32435,"cache_creation":`+test.lifetimes+`,"output_tokens":0}}`), &r)
			if r.Usage.InputTotal.N != 98_805 {
				t.Fatalf("the prompt has %d tokens", r.Usage.InputTotal.N)
			}
			got := catalog.Default().Price(bedrock, test.model, r.Model).Cost(&catalog.Use{Usage: r.Usage})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCost(t *testing.T) {
	anthropicAPI := &catalog.Provider{Name: "anthropic", Endpoint: "anthropic"}
	openai := &catalog.Provider{Name: "openai"}
	long := used(200_000, 72_001, 0, 10)
	halves := used(0, 0, 3000, 0)
	halves.CacheWrite30m, halves.CacheWrite12h = rewrite.Tokens(1000), rewrite.Tokens(2000)
	steps := used(150_000, 0, 0, 10)
	steps.Context = rewrite.Tokens(60_000)
	mixed := used(10, 0, 0, 10)
	mixed.Mixed = true
	searches := &rewrite.Activity{Calls: []rewrite.HostedCalls{{Name: "web_search", N: 3}}}
	unpriced := &rewrite.Activity{Hosted: []rewrite.HostedActivity{
		{ID: "a", Name: "code_execution", State: rewrite.HostedCompleted}, {ID: "b", Name: "web_search", State: rewrite.HostedFailed},
	}}
	for name, test := range map[string]struct {
		provider *catalog.Provider
		model    string
		use      catalog.Use
		want     rewrite.Cost
	}{
		"output too":                {anthropicAPI, "claude-sonnet-5-5", catalog.Use{Usage: used(1, 10, 100, 1000)}, rewrite.Cost{Fresh: 2e6, Read: 1e6, Write: 250e6, Output: 10_000e6, Known: true}},
		"nothing reported":          {anthropicAPI, "claude-sonnet-5-5", catalog.Use{}, rewrite.Cost{}},
		"no price":                  {anthropicAPI, "claude-fable-5-2", catalog.Use{Usage: used(1, 1, 1, 1)}, rewrite.Cost{}},
		"another provider":          {&catalog.Provider{Name: "lab"}, "claude-sonnet-5-5", catalog.Use{Usage: used(1, 1, 1, 1)}, rewrite.Cost{}},
		"a dated name":              {openai, "gpt-5-2026-01-31", catalog.Use{Usage: used(1, 1, 0, 1)}, rewrite.Cost{Fresh: 1_250_000, Read: 125_000, Output: 10e6, Known: true}},
		"no price for a write":      {openai, "gpt-5", catalog.Use{Usage: used(1, 1, 1, 1)}, rewrite.Cost{}},
		"long prompt":               {openai, "gpt-6.1-sol", catalog.Use{Usage: long}, rewrite.Cost{Fresh: 800_000e6, Read: 14_400_200_000, Output: 150e6, Known: true}},
		"as long as allowed":        {openai, "gpt-6.1-sol", catalog.Use{Usage: used(272_000, 0, 0, 0)}, rewrite.Cost{Fresh: 544_000e6, Known: true}},
		"long at an unknown price":  {openai, "gpt-6.1-terra", catalog.Use{Usage: long}, rewrite.Cost{}},
		"two lifetimes":             {openai, "gpt-6.1-sol", catalog.Use{Usage: halves}, rewrite.Cost{Write: 2_500e6 + 10_000e6, Known: true}},
		"several steps":             {anthropicAPI, "claude-haiku-5-5", catalog.Use{Usage: steps}, rewrite.Cost{Fresh: 15_000e6, Output: 5e6, Known: true}},
		"several models":            {anthropicAPI, "claude-haiku-5-5", catalog.Use{Usage: mixed}, rewrite.Cost{}},
		"fast":                      {anthropicAPI, "claude-opus-5-5", catalog.Use{Usage: used(10, 0, 0, 0), Terms: rewrite.TermsFast}, rewrite.Cost{Fresh: 80e6, Known: true}},
		"fast in a region":          {anthropicAPI, "claude-opus-5-5", catalog.Use{Usage: used(10, 0, 0, 0), Terms: rewrite.TermsFast | rewrite.TermsRegional}, rewrite.Cost{Fresh: 88e6, Known: true}},
		"terms without a price":     {anthropicAPI, "claude-opus-5-5", catalog.Use{Usage: used(10, 0, 0, 0), Terms: rewrite.TermsPriority}, rewrite.Cost{}},
		"searches":                  {anthropicAPI, "claude-opus-5-5", catalog.Use{Usage: used(10, 0, 0, 0), Activity: searches}, rewrite.Cost{Fresh: 40e6, Hosted: 3e10, Known: true}},
		"a tool without a price":    {anthropicAPI, "claude-opus-5-5", catalog.Use{Usage: used(10, 0, 0, 0), Activity: unpriced}, rewrite.Cost{Fresh: 40e6, Known: true, Least: true}},
		"charged":                   {&catalog.Provider{Name: "openrouter"}, "any/model", catalog.Use{Usage: used(1, 1, 1, 1), Charged: 7}, rewrite.Cost{Charged: 7, Known: true}},
		"charged without saying it": {&catalog.Provider{Name: "openrouter"}, "any/model", catalog.Use{Usage: used(1, 1, 1, 1)}, rewrite.Cost{}},
		"free writes":               {&catalog.Provider{Name: "zai"}, "glm-5", catalog.Use{Usage: used(1, 0, 9, 0)}, rewrite.Cost{Fresh: 1e6, Known: true}},
		"a miscount":                {anthropicAPI, "claude-opus-5-5", catalog.Use{Usage: used(1<<60, 0, 0, 0)}, rewrite.Cost{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := catalog.Default().Price(test.provider, test.model, "").Cost(&test.use)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What answered is what costs, unless nobody knows its price.
func TestPriceOfTheModelThatAnswered(t *testing.T) {
	p, s := &catalog.Provider{Name: "anthropic"}, catalog.Default()
	for name, test := range map[string]struct {
		asked, answered string
		want            rewrite.Dollars
	}{
		"the same":     {"claude-opus-5", "claude-opus-5-20260801", 5e6},
		"a fallback":   {"claude-fable-5-1", "claude-opus-5-5", 4e6},
		"an odd name":  {"claude-opus-5", "opus", 5e6},
		"no name":      {"claude-opus-5", "", 5e6},
		"neither":      {"a", "b", 0},
		"only answers": {"auto", "claude-opus-5", 5e6},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Price(p, test.asked, test.answered).Cost(&catalog.Use{Usage: used(1, 0, 0, 0)}).Total(); got != test.want {
				t.Errorf("a token costs %s, want %s", got, test.want)
			}
		})
	}
}

func TestSaved(t *testing.T) {
	p := catalog.Default().Price(&catalog.Provider{Name: "anthropic"}, "claude-opus-5", "")
	usage := used(0, 1000, 0, 0)
	if saved, ok := p.Saved(1000, &usage); !ok || saved != 4_500e6 {
		t.Errorf("saved %s, %v", saved, ok)
	}
	if saved, ok := (*catalog.Price)(nil).Saved(1000, &usage); ok {
		t.Errorf("saved %s of an unknown price", saved)
	}
}

func TestOwnPrices(t *testing.T) {
	row := func(input string) catalog.PriceRow {
		return catalog.PriceRow{Tokens: map[string]string{"input": input, "output": "1"}}
	}
	s, problems := catalog.Build(catalog.Settings{Prices: map[string]catalog.PriceRow{
		"claude-opus-5": row("1"), "anthropic/claude-opus-5": row("2"), "house/model": row("0.5"), "free": row("0"),
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, test := range map[string]struct {
		provider, model string
		want            string
		known           bool
	}{
		"by provider":                 {"anthropic", "claude-opus-5", "0.000002", true},
		"by model":                    {"openrouter", "claude-opus-5", "0.000001", true},
		"dated":                       {"anthropic", "claude-opus-5-20260801", "0.000002", true},
		"a name with a slash":         {"openai", "house/model", "0.0000005", true},
		"nothing is a price too":      {"anthropic", "free", "0", true},
		"others stay as they were":    {"anthropic", "claude-opus-5-5", "0.000004", true},
		"nothing known of this model": {"anthropic", "claude", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Price(&catalog.Provider{Name: test.provider}, test.model, "").Cost(&catalog.Use{Usage: used(1, 0, 0, 0)})
			if got.Total().String() != test.want || got.Known != test.known {
				t.Errorf("got %s, %v", got.Total(), got.Known)
			}
		})
	}
}

func TestFaultyPrices(t *testing.T) {
	_, problems := catalog.Build(catalog.Settings{Prices: map[string]catalog.PriceRow{"m": {
		Tokens: map[string]string{"input": "a lot", "read": "-1", "write_5m": "0.0000001"},
		Above:  map[string]string{"tokens": "many", "input": "1"},
		Hosted: map[string]string{"search": "1", "web_search": "1e9"},
		Terms:  map[string]string{"slow": "2", "fast": "0"},
	}}})
	const price = "; write US dollars per million tokens, from 0 to 1000 with at most 6 decimals"
	want := []catalog.Problem{
		{Path: []string{"prices", "m", "input"}, Message: `is "a lot"` + price},
		{Path: []string{"prices", "m", "read"}, Message: `is "-1"` + price},
		{Path: []string{"prices", "m", "write_5m"}, Message: `is "0.0000001"` + price},
		{Path: []string{"prices", "m", "output"}, Message: "is needed; write US dollars per million tokens"},
		{Path: []string{"prices", "m", "above", "tokens"}, Message: `is "many"; write the number of tokens of a prompt above which these prices apply`},
		{Path: []string{"prices", "m", "above", "output"}, Message: "is needed; write US dollars per million tokens"},
		{Path: []string{"prices", "m", "hosted", "search"}, Message: "is not a kind of tool; write one of web_search, web_fetch, code_execution, file_search, image_generation, mcp, computer, shell, maps, tool_search, advisor, other"},
		{Path: []string{"prices", "m", "hosted", "web_search"}, Message: `is "1e9"; write US dollars per thousand calls, from 0 to 1000`},
		{Path: []string{"prices", "m", "terms", "fast"}, Message: `is "0"; write a factor, like 0.5 or 1.1`},
		{Path: []string{"prices", "m", "terms", "slow"}, Message: "are no terms of a call; write one of batch, flex, priority, fast, regional, other"},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}
