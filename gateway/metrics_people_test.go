package gateway_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"warmpath/cache"
	"warmpath/cache/redis"
	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools"
	"warmpath/gateway/tools/mcp"
	"warmpath/metrics"
	"warmpath/rewrite"
)

// looksUp is a script in which the model calls a tool of the desk.
const looksUp = `DO[say One.; call mcp__desk__order {"number":"7"}; then; say Two.]`

// ofPeople are situations in which the gateway runs tools and asks people.
var ofPeople = map[string]func(*testing.T){
	"answers": func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, nil)
		for _, answer := range []string{chosen, `{"action":"decline"}`, `{"action":"cancel"}`} {
			s := p.begin(t, rewrite.Messages, asksUser, "Warmpath-Capabilities", capable)
			id := p.open(t, rewrite.Messages).Get("id").Str
			if status, said := p.call(t, rewrite.Messages, "POST", "/"+id+"/answer", answer); status != 200 {
				t.Fatalf("%d %s", status, said)
			}
			s.rest(t)
		}
		p.begin(t, rewrite.Messages, asksUser).rest(t) // and with nobody there
	},
	"leave and delivery": func(t *testing.T) {
		var kept *config.Config
		p := withPeopleOf(t, gateway.Options{}, provider.Options{}, catalog.RouteRow{MCP: []string{"desk"}}, func(cfg *config.Config) {
			cfg.MCP = []mcp.Config{deskServer("desk")}
			cfg.Prompts.Policies.Default = prompt.Rule{Run: prompt.RunAsk, Deliver: prompt.RunAsk}
			kept = cfg
		})
		s := p.begin(t, rewrite.Messages, looksUp, "Warmpath-Capabilities", capable)
		for _, kind := range []string{"run", "deliver"} {
			open := p.open(t, rewrite.Messages)
			if open.Get("kind").Str != kind {
				t.Fatalf("a prompt of kind %s, want %s", open.Get("kind").Str, kind)
			}
			watchNow(p.gateway, kept)
			if status, said := p.call(t, rewrite.Messages, "POST", "/"+open.Get("id").Str+"/answer", `{"action":"accept"}`); status != 200 {
				t.Fatalf("%d %s", status, said)
			}
		}
		s.rest(t)
	},
	"policies": func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, func(cfg *config.Config) { cfg.Prompts.Policies.Default.Detached.All = prompt.Defaults })
		p.begin(t, rewrite.Messages, strings.Replace(asksUser, `"options":["PostgreSQL","SQLite"]`, `"options":["PostgreSQL","SQLite"],"default":"SQLite"`, 1)).rest(t)
		p = withLock(t, gateway.Options{}, lockServer(t, asksInAResult, true), func(cfg *config.Config) {
			cfg.Prompts.Policies.Default = prompt.Rule{Run: prompt.RunAsk, Detached: prompt.Detached{All: prompt.Auto}}
		})
		p.begin(t, rewrite.Messages, opensADoor).rest(t)
		p = withErratic(t, func(cfg *config.Config) { cfg.Prompts.Policies.Default.Target = prompt.ToAssistant })
		p.begin(t, rewrite.Messages, "DO[call mcp__erratic__asks {}; then; say Two.]").rest(t)
	},
	"nobody answers": func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, func(cfg *config.Config) { cfg.Prompts.Expiry = 50 * time.Millisecond })
		p.begin(t, rewrite.Messages, asksUser, "Warmpath-Capabilities", capable).rest(t)
	},
	"the gateway stops": func(t *testing.T) {
		var kept *config.Config
		p := withPeople(t, gateway.Options{}, func(cfg *config.Config) { kept = cfg })
		p.begin(t, rewrite.Messages, asksUser, "Warmpath-Capabilities", capable)
		p.open(t, rewrite.Messages)
		p.begin(t, rewrite.Messages, "DO[slow 100ms; text 200 events=20]")
		eventually(t, func() bool { return strings.Contains(counts(p.gateway, false), "\nwarmpath_streams_open 2\n") }, func() string { return "no two streams" })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		over := make(chan error, 1)
		go func() { over <- p.gateway.Stop(ctx) }()
		eventually(t, func() bool {
			return strings.Contains(counts(p.gateway, false), `warmpath_requests_total{dialect="messages",provider="claude",reason="draining",status="2xx"} 1`)
		}, func() string { return "nothing is counted to have drained" })
		watchNow(p.gateway, kept)
		if err := <-over; err != nil {
			t.Error(err)
		}
	},
	"tools of servers": func(t *testing.T) {
		p := withErratic(t)
		for _, tool := range []string{"works", "fails", "refuses", "waits", "dies", "works"} {
			s := p.begin(t, rewrite.Messages, "DO[say One.; call mcp__erratic__"+tool+" {}; then; say Two.]")
			if tool == "waits" {
				eventually(t, func() bool { return strings.Contains(s.text.String(), "One.") }, func() string { return "the model says nothing" })
				s.leave()
				<-s.done
				eventually(t, func() bool {
					return strings.Contains(counts(p.gateway, false), `warmpath_mcp_calls_total{outcome="cancelled",server="erratic"} 1`)
				}, func() string { return "nothing was cancelled" })
				continue
			}
			s.rest(t)
		}
	},
	"a server's tool that takes too long": func(t *testing.T) {
		p := withErratic(t, func(cfg *config.Config) { cfg.MCP[0].Timeout = 50 * time.Millisecond })
		p.begin(t, rewrite.Messages, "DO[call mcp__erratic__waits {}; then; say Two.]").rest(t)
	},
	"prompts that cannot be shared": func(t *testing.T) {
		address := redisServer(t)
		store, err := redis.Open(address, redis.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := withPeople(t, gateway.Options{Store: store}, nil)
		for _, last := range []string{"ACL SETUSER default -publish", "SHUTDOWN NOSAVE"} {
			raw(t, strings.TrimPrefix(address, "redis://"), last+"\r\nQUIT\r\n")
			s := p.begin(t, rewrite.Messages, asksUser, "Warmpath-Capabilities", capable)
			id := p.open(t, rewrite.Messages).Get("id").Str
			p.call(t, rewrite.Messages, "POST", "/"+id+"/answer", chosen)
			s.rest(t)
		}
		// Another gateway might have it, if it could be read.
		p.call(t, rewrite.Messages, "POST", "/p_elsewhere/answer", chosen)
		for _, op := range metrics.PromptSharingOps {
			eventually(t, func() bool {
				_, count, _ := strings.Cut(counts(p.gateway, false), `warmpath_prompt_sharing_failures_total{op="`+op+`"} `)
				return count != "" && count[0] != '0'
			}, func() string { return op + " has never failed" })
		}
	},
	"a tool that fails": func(t *testing.T) {
		tool := slowTool(func(context.Context, tools.Call) tools.Result { return tools.Failure("no") })
		_, base := everyProviderRouted(t, gateway.Options{Tools: []tools.Tool{tool}}, map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}}, nil)
		client := speakers[rewrite.Messages]
		c := says(`DO[call ask_user {}; then; say End.]`)
		c.Dialect, c.Model = rewrite.Messages, models[rewrite.Messages]
		client.ask(t, base, c)
	},
	"hidden calls": func(t *testing.T) {
		for name, failing := range map[string]bool{"kept": false, "lost": true} {
			t.Run(name, func(t *testing.T) {
				store := &deaf{Store: cache.NewMemory(8 << 20)}
				_, base := withTools(t, gateway.Options{Store: store}, "tell_user")
				client := speakers[rewrite.Messages]
				c := says(`DO[say One.; call tell_user {"message":"Two."}; then; say Three.]`)
				c.Dialect, c.Model = rewrite.Messages, models[rewrite.Messages]
				reply, _ := client.ask(t, base, c)
				c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say Four.]"}}})
				store.off.Store(failing)
				client.ask(t, base, c)
			})
		}
		_, base := withTools(t, gateway.Options{Store: &troubled{Store: cache.NewMemory(1 << 20), err: errDeaf}}, "tell_user")
		client := speakers[rewrite.Messages]
		c := says(`DO[call tell_user {"message":"Two."}; then; say Three.]`)
		c.Dialect, c.Model = rewrite.Messages, models[rewrite.Messages]
		client.ask(t, base, c)
	},
}

// erraticVariable makes the test's own program a server whose tools do what they are
// called. It names a file that is there once it has died, for good.
const erraticVariable = "WARMPATH_TEST_ERRATIC"

func init() {
	grave := os.Getenv(erraticVariable)
	if grave == "" {
		return
	}
	if _, err := os.Stat(grave); err == nil {
		os.Exit(1)
	}
	server := protocol.NewServer(&protocol.Implementation{Name: "erratic", Version: "1"}, &protocol.ServerOptions{SupportedProtocolVersions: []string{asksInACall}})
	said := &protocol.CallToolResult{Content: []protocol.Content{&protocol.TextContent{Text: "said"}}}
	for name, run := range map[string]protocol.ToolHandler{
		"works": func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) { return said, nil },
		"fails": func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			return &protocol.CallToolResult{Content: said.Content, IsError: true}, nil
		},
		"refuses": func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no"}
		},
		"waits": func(ctx context.Context, _ *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"asks": func(ctx context.Context, r *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			form := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
			_, err := r.Session.Elicit(ctx, &protocol.ElicitParams{Message: "Who?", RequestedSchema: form})
			return said, err
		},
		"dies": func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			_ = os.WriteFile(grave, nil, 0o600)
			os.Exit(1)
			return nil, nil
		},
	} {
		server.AddTool(&protocol.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, run)
	}
	_ = server.Run(context.Background(), &protocol.StdioTransport{})
	os.Exit(0)
}

// withErratic is a gateway whose models may call these tools.
func withErratic(t *testing.T, change ...func(*config.Config)) *people {
	t.Helper()
	return withPeopleOf(t, gateway.Options{}, provider.Options{}, catalog.RouteRow{MCP: []string{"erratic"}}, func(cfg *config.Config) {
		cfg.MCP = []mcp.Config{{Name: "erratic", Command: os.Args[0], Env: map[string]secret.String{erraticVariable: secret.New(filepath.Join(t.TempDir(), "grave"))}, Connect: 20 * time.Second, Timeout: 20 * time.Second}}
		cfg.Prompts.Policies.Default.Run = prompt.RunUnattended
		for _, c := range change {
			c(cfg)
		}
	})
}
