package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/desk"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools/mcp"
	"warmpath/rewrite"
)

// deskVariable makes the test's own program the desk.
const deskVariable = "WARMPATH_TEST_DESK"

func init() {
	if os.Getenv(deskVariable) != "" {
		_ = desk.Serve(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

// deskServer is the desk as a server of a configuration.
func deskServer(name string) mcp.Config {
	return mcp.Config{Name: name, Command: os.Args[0], Env: map[string]secret.String{deskVariable: secret.New("1")}, Connect: 20 * time.Second, Timeout: 20 * time.Second}
}

// withServers is a gateway in front of every provider, with the desk for all models
// and leave to ask it.
func withServers(t testing.TB, opts gateway.Options, change func(*config.Config)) (g *gateway.Gateway, base string, last func() []string) {
	t.Helper()
	g, core, base := everyProviderOf(t, opts, map[string]catalog.RouteRow{"*": {MCP: []string{"desk"}}}, func(cfg *config.Config) {
		cfg.MCP = []mcp.Config{deskServer("desk")}
		cfg.Prompts.Policies.Default = prompt.Rule{Run: prompt.RunUnattended, Deliver: prompt.RunUnattended}
		if change != nil {
			change(cfg)
		}
	})
	return g, base, func() (bodies []string) {
		for _, record := range core.Log.All() {
			bodies = append(bodies, record.Body)
		}
		return bodies
	}
}

// AUD-12: of what a server's tool gives, people get their half and the provider its own.
func TestAServersResultGoesToWhomItIsFor(t *testing.T) {
	_, base, bodies := withServers(t, gateway.Options{}, keepReplies)
	forPeople, forTheModel := fmt.Sprintf(desk.ForPeople, "7"), fmt.Sprintf(desk.ForTheModel, "7")
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("AUD-12 %s to %s, stream %v", from, to, stream), func(t *testing.T) {
					before := len(bodies())
					c := &rewrite.Conversation{Dialect: from, Model: model, Stream: stream, Items: []rewrite.Item{{Parts: []rewrite.Part{{
						Text: `Look. DO[say One.; call mcp__desk__order {"number":"7"}; then; say Three.]`,
					}}}}}
					reply, _ := client.ask(t, base, c)
					if got := strings.Join(spoken(reply), ""); got != "One.\n\n"+forPeople+"\n\nThree." {
						t.Errorf("the client reads %q", got)
					}
					for i := range reply.Items {
						if reply.Items[i].Kind == rewrite.ItemCall {
							t.Errorf("the client is told of a call of %s", reply.Items[i].Call.Name)
						}
					}
					sent := bodies()[before:]
					if len(sent) != 2 || !strings.Contains(sent[1], forTheModel) || !strings.Contains(sent[0], "mcp__desk__order") {
						t.Fatalf("the provider got %d requests: %v", len(sent), sent)
					}
					if strings.Contains(strings.Join(sent, ""), "Example Street") {
						t.Errorf("the provider got what is for people: %s", sent[1])
					}
				})
			}
		}
	}
}

// A model that calls a tool which its server does not have is told so, in the same
// reply; the client knows nothing of it, now and later. Nothing is offered that is not
// there.
func TestAToolThatAModelMakesUp(t *testing.T) {
	_, base, bodies := withServers(t, gateway.Options{}, keepReplies)
	for from, client := range speakers {
		for to, model := range models {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				before := len(bodies())
				c := &rewrite.Conversation{Dialect: from, Model: model, Stream: true, Items: []rewrite.Item{{Parts: []rewrite.Part{{
					Text: `Look. DO[say One.; call mcp__desk__refund {"number":"7"}; then; say Two.]`,
				}}}}}
				reply, _ := client.ask(t, base, c)
				for i := range reply.Items {
					if reply.Items[i].Kind == rewrite.ItemCall {
						t.Errorf("the client is told of a call of %s", reply.Items[i].Call.Name)
					}
				}
				if got := strings.Join(spoken(reply), ""); !strings.Contains(got, "One.") || !strings.Contains(got, "Two.") {
					t.Errorf("the client reads %q", got)
				}
				c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "Go on. DO[say Bye.]"}}})
				client.ask(t, base, c)
				sent := bodies()[before:]
				if len(sent) != 3 {
					t.Fatalf("the provider got %d requests: %v", len(sent), sent)
				}
				for i, body := range sent {
					told := strings.Contains(unwrapped(body), "There is no tool mcp__desk__refund. Its server has: mcp__desk__order.")
					if told != (i > 0) {
						t.Errorf("request %d: the model is told: %v, in %s", i, told, body)
					}
					if tools := unwrapped(body); strings.Count(tools, `"name":"mcp__desk__refund"`) > i*2 || strings.Contains(gjson.Get(tools, "tools").Raw, "refund") {
						t.Errorf("request %d offers it: %s", i, tools)
					}
				}
			})
		}
	}
}

// A client's own tool of such a name is the client's to answer.
func TestAToolOfTheClientsThatLooksLikeAServers(t *testing.T) {
	_, base, bodies := withServers(t, gateway.Options{}, nil)
	for from, client := range speakers {
		for to, model := range models {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				c := &rewrite.Conversation{Dialect: from, Model: model, Stream: true, Tools: []rewrite.Tool{{Name: "mcp__desk__refund", Schema: rewrite.JSON(`{"type":"object"}`)}},
					Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: `Look. DO[call mcp__desk__refund {"number":"7"}; then; say Two.]`}}}}}
				before := len(bodies())
				reply, _ := client.ask(t, base, c)
				called := slices.ContainsFunc(reply.Items, func(i rewrite.Item) bool { return i.Call.Name == "mcp__desk__refund" })
				if !called || len(bodies()) != before+1 {
					t.Errorf("the client gets %+v after %d requests", reply.Items, len(bodies())-before)
				}
			})
		}
	}
}

// Only tools of servers that the route lists are offered.
func TestARouteHasTheToolsThatItLists(t *testing.T) {
	routes := map[string]catalog.RouteRow{"claude/*": {MCP: []string{"desk"}}, "claude/claude-haiku*": {MCP: []string{"second", "desk"}}}
	_, core, base := everyProviderOf(t, gateway.Options{}, routes, func(cfg *config.Config) {
		cfg.MCP = []mcp.Config{deskServer("desk"), deskServer("second"), deskServer("unused")}
	})
	for model, want := range map[string]string{
		"claude/claude-opus-5-5": "mcp__desk__order", "claude/claude-haiku-5-5": "mcp__desk__order mcp__second__order", "chat/gpt-4.1": "",
	} {
		before := len(core.Log.All())
		ask := speakers[rewrite.Messages]
		ask.ask(t, base, &rewrite.Conversation{Dialect: rewrite.Messages, Model: model, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Hello. DO[say Hi.]"}}}}})
		var names []string
		for _, tool := range gjson.Get(core.Log.All()[before].Body, "tools").Array() {
			names = append(names, tool.Get("name").Str)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s is offered %q, want %q", model, got, want)
		}
	}
}

// Without leave, and with nobody there to give it, nothing is run.
func TestAServersToolNeedsLeave(t *testing.T) {
	_, base, bodies := withServers(t, gateway.Options{}, func(cfg *config.Config) { cfg.Prompts.Policies = prompt.Policies{} })
	ask := speakers[rewrite.Messages]
	began := time.Now()
	reply, _ := ask.ask(t, base, &rewrite.Conversation{Dialect: rewrite.Messages, Model: models[rewrite.Messages], Stream: true, Items: []rewrite.Item{{Parts: []rewrite.Part{{
		Text: `Look. DO[call mcp__desk__order {"number":"7"}; then; say Three.]`,
	}}}}})
	sent := bodies()
	last := sent[len(sent)-1]
	if got := strings.Join(spoken(reply), ""); got != "Three." || !strings.Contains(last, "was not run") || !strings.Contains(last, "prompts.tools.mcp__desk__order") || strings.Contains(last, "waits in the store") {
		t.Errorf("the client reads %q, the model %s, after %s", got, last, time.Since(began))
	}
}

func TestServersAreShownAndReloaded(t *testing.T) {
	var cfg *config.Config
	g, base, _ := withServers(t, gateway.Options{}, func(c *config.Config) {
		cfg = c
		c.MCP = append(c.MCP, mcp.Config{Name: "gone", Command: filepath.Join(t.TempDir(), "no-such-program")})
	})
	ask := speakers[rewrite.Messages]
	c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: models[rewrite.Messages], Items: []rewrite.Item{{Parts: []rewrite.Part{{
		Text: `Look. DO[call mcp__desk__order {"number":"7"}; then; say Three.]`,
	}}}}}
	ask.ask(t, base, c)
	states := func() string {
		_, body := admin(t, g, "/api/status")
		var status struct {
			MCP []struct {
				Name, State, Reason string
				Tools               int
			} `json:"mcp"`
		}
		if err := json.Unmarshal(body, &status); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(status.MCP)
	}
	wait := func(want string) {
		t.Helper()
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			got := states()
			if got == want {
				return
			}
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("the servers are %s, want %s", got, want)
			}
		}
	}
	wait("[{desk up  1} {gone down program not started 0}]")
	_, page := admin(t, g, "/metrics")
	for _, line := range []string{
		`warmpath_mcp_server_up{server="desk"} 1`, `warmpath_mcp_server_up{server="gone"} 0`,
		`warmpath_mcp_calls_total{outcome="ok",server="desk"} 1`, `warmpath_mcp_calls_total{outcome="broken",server="gone"} 0`,
		`warmpath_mcp_call_duration_seconds_count{server="desk"} 1`, `warmpath_tool_calls_total{outcome="answered",source="mcp"} 1`,
	} {
		if !strings.Contains(string(page), "\n"+line+"\n") {
			t.Errorf("%s is not in the metrics", line)
		}
	}
	next := *cfg
	next.MCP = []mcp.Config{deskServer("second"), cfg.MCP[0]}
	g.Reload(&next)
	wait("[{desk up  1} {second up  1}]")
	if _, page = admin(t, g, "/metrics"); strings.Contains(string(page), `server_up{server="gone"}`) {
		t.Error("a server that is gone is still said to be down")
	}
}
