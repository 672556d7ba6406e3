package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/tools/mcp"
	"warmpath/rewrite"
)

// together is something that goes along with hidden calls, and what comes of it.
type together struct {
	name, script string
	// change changes the first request, next the one after it.
	change, next func(*rewrite.Conversation)
	headers      []string
	// clients and providers are those that it is for; none for all.
	clients, providers []rewrite.Dialect
	// says is what the client reads, without white space, and calls what it is to call.
	says  string
	calls []string
	stop  rewrite.StopReason // StopEnd, or StopTools with calls, if unset
	// upstream is how many calls of the provider it takes, and told what it is told at
	// last.
	upstream int
	told     string
	// silent says that the client answers the calls and says nothing more.
	silent bool
}

// hosts lets the provider search.
func hosts(c *rewrite.Conversation) {
	c.Tools = append(c.Tools, rewrite.Tool{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: searchTools[c.Dialect]})
}

// demands makes a choice of tools.
func demands(mode, name string) func(*rewrite.Conversation) {
	return func(c *rewrite.Conversation) {
		c.Choice = rewrite.ToolChoice{Mode: mode, Name: name}
		if c.Model == models[rewrite.Messages] {
			c.Model = "claude/claude-opus-5" // newer ones take no demands
		}
	}
}

var (
	onlyMessages = []rewrite.Dialect{rewrite.Messages}
	// demanding are providers whose model takes demands of a call.
	demanding = []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses, rewrite.Gemini}
)

var allTogether = []together{
	{
		name:   "a client's call in the next round",
		script: `say One.; call tell_user {"message":"Two."}; then; say Three.; call clock {"zone":"CET"}`,
		says:   "One.Two.Three.", calls: []string{"clock"}, upstream: 2, told: "Message shown to user.",
	},
	{
		name:   "a client's call in the same round, and one in the next",
		script: `call tell_user {"message":"One."}; then; call clock {}; call tell_user {"message":"Two."}; then; say Three.`,
		says:   "One.Two.", calls: []string{"clock"}, upstream: 2,
	},
	{
		name:   "several hidden calls of one turn",
		script: `say One.; call tell_user {"message":"Two."}; call tell_user {"message":"Three."}; call tell_user {"message":"Four."}; then; say Five.`,
		says:   "One.Two.Three.Four.Five.", upstream: 2,
	},
	{
		name:   "a hidden call that policy refuses",
		script: `say One.; call mcp__desk__order {"number":"7"}; call tell_user {"message":"Two."}; then; say Three.`,
		says:   "One.Two.Three.", upstream: 2, told: "The setting prompts.detached (deny) decides this",
	},
	{
		name:   "a reply that is cut off after a hidden round, and gone on with",
		script: `say One. ; call tell_user {"message":"Two."}; then; say It rained, and the; stop length; then; say and the sun shone.`,
		says:   "One.Two.Itrained,andthesunshone.", headers: []string{"Warmpath-Continue", "on"}, upstream: 3,
	},
	{
		name:   "a hidden round after a reply that is gone on with",
		script: `say It rained, and the; stop length; then; say and the sun shone.; call tell_user {"message":"One."}; then; say Two.`,
		says:   "Itrained,andthesunshone.One.Two.", headers: []string{"Warmpath-Continue", "on"}, upstream: 3,
	},
	{
		name:   "a reply that is cut off after a hidden round",
		script: `say One. ; call tell_user {"message":"Two."}; then; say Three; stop length`,
		change: func(c *rewrite.Conversation) { c.Sampling.MaxTokens = rewrite.JSON("500") },
		says:   "One.Two.Three", stop: rewrite.StopLength, upstream: 2,
	},
	{
		name:   "a bound on tokens that the second call reaches",
		script: `call tell_user {"message":"One."}; then; text 400`,
		change: func(c *rewrite.Conversation) { c.Sampling.MaxTokens = rewrite.JSON("100") },
		says:   "One.…", stop: rewrite.StopLength, upstream: 2,
	},
	{
		name:   "a search in the next round",
		script: `say One.; call tell_user {"message":"Two."}; then; search zürich`,
		change: hosts, providers: []rewrite.Dialect{rewrite.Messages, rewrite.Responses},
		says: "One.Two.Aboutzürich:seethesources.", upstream: 2,
	},
	{
		name:   "a search that is under way",
		script: `say One.; call tell_user {"message":"Two."}; search zürich; then; say Three.`,
		change: hosts, providers: onlyMessages,
		says: "One.Two.Three.", upstream: 2,
	},
	{
		name:   "a search that is under way, and a client's call",
		script: `say One.; call tell_user {"message":"Two."}; search zürich; call clock {}; then; say Next.`,
		change: hosts, providers: onlyMessages,
		says: "One.Two.", calls: []string{"clock"}, upstream: 1, silent: true,
	},
	{
		name:   "a pause in the next round",
		script: `say One.; call tell_user {"message":"Two."}; then; search zürich; stop pause; then; say Found.`,
		change: hosts, providers: onlyMessages,
		says: "One.Two.Found.", upstream: 3,
	},
	{
		name:   "a hidden call after a pause",
		script: `say One.; search zürich; stop pause; then; say Found.; call tell_user {"message":"Two."}; then; say Three.`,
		change: hosts, providers: onlyMessages, clients: []rewrite.Dialect{rewrite.Completions, rewrite.Responses, rewrite.Gemini},
		// Neighbouring replies count as one for the scripted model, which so says this twice.
		says: "One.Found.Two.Found.Two.Three.", upstream: 4,
	},
	{
		name:   "a client that takes no losses",
		script: `say One.; call tell_user {"message":"Two."}; then; say Three.`, headers: []string{"Warmpath-Strict", "1"},
		says: "One.Two.Three.", upstream: 2,
	},
	{
		name:   "a client that asks for our events",
		script: `say One.; call tell_user {"message":"Two."}; then; say Three.`, headers: []string{"Warmpath-Events", "1"},
		says: "One.Two.Three.", upstream: 2,
	},
	{
		name:   "a demand of any tool",
		script: `call tell_user {"message":"Two."}; then; call clock {}`,
		change: demands("any", ""), next: demands("", ""), providers: demanding,
		says: "Two.", calls: []string{"clock"}, upstream: 2,
	},
	{
		name:   "a demand of a tool of the client's",
		script: `call clock {}`,
		change: demands("tool", "clock"), next: demands("", ""), providers: demanding,
		calls: []string{"clock"}, upstream: 1,
	},
	{
		name: "no tool", script: `say One.`,
		change: demands("none", ""), next: demands("", ""), providers: demanding,
		says: "One.", upstream: 1,
	},
	{
		name:   "one call at a time",
		script: `call tell_user {"message":"One."}; then; call clock {}`,
		change: func(c *rewrite.Conversation) { c.Parallel = rewrite.Off }, providers: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses},
		clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses},
		says:    "One.", calls: []string{"clock"}, upstream: 2,
	},
	{
		name:   "a form that the next reply is to have",
		script: `say One.; call tell_user {"message":"Two."}; then; say Three.`,
		next: func(c *rewrite.Conversation) {
			c.Format = rewrite.Format{Kind: "schema", Name: "a", Schema: rewrite.JSON(`{"type":"object","properties":{},"additionalProperties":false}`)}
		},
		says: "One.Two.Three.", upstream: 2,
	},
	{
		name:    "a second call that has to be made again",
		script:  `call tell_user {"message":"One."}; then; status 529 times=1; say Two.`,
		clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions}, providers: []rewrite.Dialect{rewrite.Messages, rewrite.Gemini},
		says: "One.Two.", upstream: 3,
	},
}

// suits reports whether a dialect is among some; all are among none.
func suits(some []rewrite.Dialect, d rewrite.Dialect) bool {
	return len(some) == 0 || slices.Contains(some, d)
}

// Hidden calls change nothing of what else a client asks for, and each call of the
// provider has its line in the log; the next request fares as if nothing had been hidden.
func TestHiddenCallsWithAllElse(t *testing.T) {
	log := new(buffer)
	routes := map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}, MCP: []string{"desk"}}}
	core, base := everyProviderRouted(t, gateway.Options{Events: log}, routes, func(cfg *config.Config) {
		keepsReplies(cfg)
		searching(cfg)
		cfg.MCP, cfg.Events = []mcp.Config{deskServer("desk")}, "-"
	})
	for i := range allTogether {
		tc := &allTogether[i]
		for from := range speakers {
			for to, model := range models {
				if !suits(tc.clients, from) || !suits(tc.providers, to) {
					continue
				}
				for _, stream := range []bool{false, true} {
					t.Run(fmt.Sprintf("WS-04 WS-05 %s, %s to %s, stream %v", tc.name, from, to, stream), func(t *testing.T) {
						c := says(fmt.Sprintf("%s to %s, %v. DO[%s]", from, to, stream, tc.script))
						c.Dialect, c.Model, c.Stream = from, model, stream
						tc.test(t, core, base, c, log)
					})
				}
			}
		}
	}
}

func (tc *together) test(t *testing.T, core *provider.Core, base string, c *rewrite.Conversation, log *buffer) {
	client := speakers[c.Dialect]
	core.Log.Clear() // it keeps only so many
	if offers(c); tc.change != nil {
		tc.change(c)
	}
	lines := strings.Count(log.String(), "\n")
	reply, _ := client.ask(t, base, c, tc.headers...)
	got := strings.Join(strings.Fields(strings.Join(spoken(reply), "")), "")
	if said, more := strings.CutSuffix(tc.says, "…"); got != said && !(more && strings.HasPrefix(got, said) && len(got) > len(said)) {
		t.Errorf("the client reads %q, want %q", got, tc.says)
	}
	var calls []string
	for i := range reply.Items {
		if reply.Items[i].Kind == rewrite.ItemCall {
			calls = append(calls, reply.Items[i].Call.Name)
		}
	}
	if diff := cmp.Diff(tc.calls, calls, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	stop := tc.stop
	if stop == rewrite.StopUnknown {
		if stop = rewrite.StopEnd; len(calls) > 0 {
			stop = rewrite.StopTools
		}
	}
	if reply.Stop.Reason != stop {
		t.Errorf("the reply stops for %s, want %s", reply.Stop.Reason, stop)
	}
	if n := len(core.Log.All()); n != tc.upstream {
		t.Errorf("the provider was asked %d times, want %d", n, tc.upstream)
	}
	if last := lastRecord(core).Body; !strings.Contains(last, tc.told) {
		t.Errorf("the model is told %s", last)
	}
	eventually(t, func() bool { return strings.Count(log.String(), "\n")-lines == tc.upstream }, log.String)
	tc.goesOn(t, core, base, c, reply)
}

// goesOn answers the calls of a reply, and lets the user speak again.
func (tc *together) goesOn(t *testing.T, core *provider.Core, base string, c *rewrite.Conversation, reply *rewrite.Reply) {
	client := speakers[c.Dialect]
	before := len(core.Log.All())
	answersAll(c, reply.Items)
	if !tc.silent {
		c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say Next.]"}}})
	}
	if tc.next != nil {
		tc.next(c)
	}
	reply, _ = client.ask(t, base, c)
	if got := strings.Join(spoken(reply), ""); got != "Next." && c.Format.Kind == "" {
		t.Errorf("then the client reads %q", got)
	}
	records := askedSince(t, core, before)
	if len(records) != 1 {
		t.Fatalf("then the provider was asked %d times", len(records))
	}
	hidden := strings.Count(tc.script, "call tell_user")
	if got := strings.Count(records[len(records)-1].Body, "Message shown to user."); got != hidden && !strings.HasSuffix(tc.script, "then; say Three.") {
		t.Errorf("the provider finds %d hidden calls, want %d: %s", got, hidden, records[len(records)-1].Body)
	}
}
