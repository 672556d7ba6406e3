package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/console"
	"warmpath/rewrite"
)

// changed is an agent that has had two turns and then changes its tools and
// its system prompt at once.
func changed(t *testing.T, change func(*config.Config)) (e *explained, body []byte) {
	core, origin := simulated(t)
	e = &explained{agent: newAgent(rand.New(rand.NewPCG(1, 1)), "claude-opus-5-5"), t: t, core: core}
	e.sections = []string{rules("zebra", 20) + "\nToday is 1.", "Quagga rules."}
	e.start(origin, gateway.Options{}, change)
	e.turn()
	e.turn()
	e.tools = []string{"alpha", "gamma=2", "delta"}
	e.sections[0] = strings.Replace(e.sections[0], "Today is 1.", "Today is 7.", 1)
	e.written = func(plain []byte) []byte {
		body = plain
		return plain
	}
	e.history = append(e.history, message{"user", []any{map[string]any{"type": "text", "text": "Okapi. DO[say Okapi.]"}}})
	e.ask()
	return e, body
}

func TestRequestsAreExplained(t *testing.T) {
	t.Parallel()
	e, body := changed(t, nil)
	got := e.newest()
	c := got.Continuity
	want := &console.Continuity{
		Conversation: c.Conversation, Messages: 9, Known: 7,
		Changes: []console.Change{
			{Tier: "tools", Path: "tools[1]", Kind: "removed", Tool: "beta"},
			{Tier: "tools", Path: "tools[1]", Kind: "changed", Tool: "gamma"},
			{Tier: "tools", Path: "tools[2]", Kind: "added", Tool: "delta"},
			{Tier: "system", Path: "system[0]", Kind: "changed"},
		},
		Decided:     []string{"first_bytes", "system_messages", "tools_by_reference", "tools_by_definition"},
		FrozenTools: true, FrozenSystem: true, Directives: 1, Texts: 1, Added: []string{"delta"}, Removed: []string{"beta"}, Defined: 1,
		Marked: true, Asked: true, Betas: []string{"inline-tools-2026-09-15", "mid-conversation-output-config-2026-07-01"},
	}
	ignored := cmpopts.IgnoreFields(console.Change{}, "At", "Size", "Hash")
	if diff := cmp.Diff(want, c, ignored, cmpopts.IgnoreFields(console.Continuity{}, "Stake", "Saved")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, at := range map[int]string{1: `2...`, 2: `{"description":"Does delta`, 3: `7."`} {
		change := c.Changes[i]
		if change.At == nil || !strings.HasPrefix(string(body[*change.At:]), at) {
			t.Errorf("%s differs at %v, want %s", change.Path, change.At, at)
		}
		if len(change.Hash) != 12 || change.Size < 50 {
			t.Errorf("%s has %d bytes and hash %q", change.Path, change.Size, change.Hash)
		}
	}
	// Straight, everything behind the second tool would have been processed again.
	if c.Stake < *got.Read/2 || c.Stake > *got.Read || c.Saved != c.Stake && got.Miss == nil {
		t.Errorf("%d tokens at stake and %d saved, with %d read", c.Stake, c.Saved, *got.Read)
	}
	price := catalog.Default().Price(&catalog.Provider{Name: got.Provider}, got.Model, "")
	saved, ok := price.Saved(c.Saved, &rewrite.Usage{InputTotal: rewrite.Tokens(*got.Input)})
	_, page := send(t, "GET", e.admin+"/metrics", "")
	line := fmt.Sprintf("warmpath_saved_usd_total{model=%q,provider=%q} %v\n", got.Model, got.Provider, saved.Float())
	if !ok || saved == 0 || !strings.Contains(page, line) {
		t.Errorf("%s dollars saved, and no %s in the metrics", saved, line)
	}
}

// TestARecordHoldsNoPromptText looks for the words of prompts in all that is
// shown of requests.
func TestARecordHoldsNoPromptText(t *testing.T) {
	t.Parallel()
	words := []string{"zebra", "Quagga", "Okapi", "Today is", "Does gamma", "Turn 1"}
	e, _ := changed(t, nil)
	e.newest()
	if _, shown := send(t, "GET", e.admin+"/api/requests", ""); true {
		for _, word := range words {
			if strings.Contains(shown, word) {
				t.Errorf("the record holds %q:\n%s", word, shown)
			}
		}
	}
	e, _ = changed(t, func(cfg *config.Config) { cfg.Records.Context = true })
	row := e.newest()
	for _, c := range row.Continuity.Changes {
		if len(c.Old) > 160 || len(c.New) > 160 {
			t.Errorf("%s: more than 80 bytes on either side are kept: %q, %q", c.Path, c.Old, c.New)
		}
		if c.Path == "system[0]" && (!strings.HasSuffix(c.Old, `Today is 1.","type":"text"}`) || !strings.HasSuffix(c.New, `Today is 7.","type":"text"}`)) {
			t.Errorf("what stands around the change: %q and %q", c.Old, c.New)
		}
		if c.Tool == "gamma" && (!strings.Contains(c.Old, `"Does gamma....`) || !strings.Contains(c.New, `"Does gamma2...`)) {
			t.Errorf("what stands around the change: %q and %q", c.Old, c.New)
		}
	}
}

// TestNoMissIsTheGateways plays agents that change their minds, and looks for
// misses that are the gateway's doing, or that nobody can explain.
func TestNoMissIsTheGateways(t *testing.T) {
	t.Parallel()
	core, origin := world(t)
	names := slices.Sorted(maps.Keys(moods))
	e := &explained{t: t, core: core}
	e.start(origin, gateway.Options{}, func(cfg *config.Config) { cfg.Quiet = true })
	for seed := range 15 {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		e.agent = newAgent(rng, []string{"claude-opus-5-5", "claude-opus-5", "claude-sonnet-4-6"}[seed%3])
		e.sections[0] = fmt.Sprintf("Agent %d.\n%s", seed, e.sections[0])
		for range 8 {
			moods[names[rng.IntN(len(names))]](e.agent)
			e.offer("alpha")
			e.turns = append(e.turns, len(e.history))
			e.turn()
		}
	}
	e.newest()
	_, body := send(t, "GET", e.admin+"/api/requests?limit=1000", "")
	var list struct{ Requests []console.Request }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	tally := map[string]int{}
	for _, r := range list.Requests {
		if r.Miss == nil {
			tally["found"]++
			continue
		}
		tally[r.Miss.Reason]++
		if r.Miss.By != "client" {
			t.Errorf("%s: %+v after %+v", r.Model, *r.Miss, r.Continuity)
		}
	}
	t.Logf("%v", tally)
	if tally["found"] < len(list.Requests)/2 || tally["tools_changed"] == 0 || tally["cold_start"] == 0 {
		t.Errorf("the agents try too little: %v", tally)
	}
}
