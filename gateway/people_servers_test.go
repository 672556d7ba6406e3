package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools/mcp"
	"warmpath/rewrite"
)

// lockVariable makes the test's own program a lock that speaks the version of the
// protocol that it names.
const lockVariable = "WARMPATH_TEST_LOCK"

func init() {
	if version := os.Getenv(lockVariable); version != "" {
		_ = lock(version).Run(context.Background(), &protocol.StdioTransport{})
		os.Exit(0)
	}
}

// The versions of the protocol in which servers ask in the middle of a call, and in
// place of its result.
const (
	asksInACall   = "2025-06-18"
	asksInAResult = "2026-07-28"
)

const lockForm = `{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"passcode":{"type":"string","title":"The code"}},"required":["name","passcode"]}`

// lock is a server whose tool opens a door to whoever says his name and a code. It does
// not repeat the code.
func lock(version string) *protocol.Server {
	server := protocol.NewServer(&protocol.Implementation{Name: "lock", Version: "1"}, &protocol.ServerOptions{SupportedProtocolVersions: []string{version}})
	wanted := &protocol.ElicitParams{Message: "The door is locked.", RequestedSchema: json.RawMessage(lockForm)}
	server.AddTool(&protocol.Tool{Name: "open", InputSchema: json.RawMessage(`{"type":"object","properties":{"door":{"type":"string"}}}`)}, func(ctx context.Context, r *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		var given *protocol.ElicitResult
		if version == asksInACall {
			var err error
			if given, err = r.Session.Elicit(ctx, wanted); err != nil {
				return nil, err
			}
		} else if given, _ = r.Params.InputResponses["who"].(*protocol.ElicitResult); given == nil {
			return &protocol.CallToolResult{InputRequests: protocol.InputRequestMap{"who": wanted}, RequestState: "waiting"}, nil
		}
		if os.Getenv(lockVariable) != "" { // Some servers log what they are told.
			fmt.Fprintf(os.Stderr, "passcode:%v\n", given.Content["passcode"])
		}
		text := "The door stays shut: " + given.Action + "."
		if code, _ := given.Content["passcode"].(string); given.Action == "accept" {
			text = fmt.Sprintf("Door %s is open for %s, whose code has %d characters.", gjson.GetBytes(r.Params.Arguments, "door").Str, given.Content["name"], len(code))
		}
		return &protocol.CallToolResult{Content: []protocol.Content{&protocol.TextContent{Text: text}}}, nil
	})
	return server
}

// lockServer is the lock as a server of a configuration: a process, or one that listens.
func lockServer(t *testing.T, version string, listens bool) mcp.Config {
	t.Helper()
	if !listens {
		return mcp.Config{Name: "lock", Command: os.Args[0], Env: map[string]secret.String{lockVariable: secret.New(version)}, Connect: 20 * time.Second, Timeout: 20 * time.Second}
	}
	server := lock(version)
	handler := protocol.NewStreamableHTTPHandler(func(*http.Request) *protocol.Server { return server }, &protocol.StreamableHTTPOptions{Stateless: version == asksInAResult})
	origin := httptest.NewServer(handler)
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
		origin.CloseClientConnections()
		origin.Close()
	})
	return mcp.Config{Name: "lock", URL: secret.New(origin.URL), Connect: 20 * time.Second, Timeout: 20 * time.Second}
}

// withLock is a gateway whose models may open the door, without being asked for leave.
func withLock(t *testing.T, opts gateway.Options, server mcp.Config, change func(*config.Config)) *people {
	t.Helper()
	return withPeopleOf(t, opts, provider.Options{}, catalog.RouteRow{Builtin: []string{"ask_user"}, MCP: []string{"lock"}}, func(cfg *config.Config) {
		cfg.MCP = []mcp.Config{server}
		cfg.Prompts.Policies.Default.Run = prompt.RunUnattended
		if change != nil {
			change(cfg)
		}
	})
}

// opensADoor is a script in which the model opens a door.
const opensADoor = `DO[say One.; call mcp__lock__open {"door":"7"}; then; say Two.]`

// A server asks in the middle of a call, in either version of the protocol and over
// either transport; a person answers on the console's API, and the model gets what the
// tool made of it.
func TestServersAskPeople(t *testing.T) {
	answers := map[string]struct{ body, result string }{
		"accepted":  {`{"action":"accept","content":{"name":"Ada","passcode":"13579"}}`, "Door 7 is open for Ada, whose code has 5 characters."},
		"declined":  {`{"action":"decline"}`, "The door stays shut: decline."},
		"cancelled": {`{"action":"cancel"}`, "The door stays shut: cancel."},
	}
	for _, version := range []string{asksInACall, asksInAResult} {
		for transport, listens := range map[string]bool{"stdio": false, "HTTP": true} {
			p := withLock(t, gateway.Options{}, lockServer(t, version, listens), nil)
			console := "http://" + p.gateway.AdminAddr() + "/api/prompts"
			for from := range speakers {
				for name, answer := range answers {
					t.Run(fmt.Sprintf("%s, %s, %s, %s", version, transport, from, name), func(t *testing.T) {
						before := len(p.core.Log.All())
						s := p.begin(t, from, opensADoor, "Warmpath-Capabilities", capable)
						open := p.open(t, from)
						if open.Get("kind").Str != "question" || open.Get("tool.name").Str != "mcp__lock__open" || open.Get("tool.source").Str != "mcp" ||
							open.Get("message").Str != "The door is locked." || open.Get("questions.#").Int() != 2 || !open.Get("questions.1.secret").Bool() {
							t.Errorf("the client sees %s", open)
						}
						if status, said := request(t, "POST", console+"/"+open.Get("id").Str+"/answer", answer.body); status != 200 {
							t.Fatalf("%d %s", status, said)
						}
						if got := s.rest(t); !strings.Contains(got, "One.") || !strings.Contains(got, "Two.") || strings.Contains(got, "lock__open") && from != rewrite.Responses {
							t.Errorf("the client reads %s", got)
						}
						sent := askedSince(t, p.core, before)
						if len(sent) != 2 || !strings.Contains(sent[1].Body, answer.result) {
							t.Fatalf("the provider got %d requests, the last of them %s", len(sent), sent[len(sent)-1].Body)
						}
					})
				}
			}
		}
	}
}
