package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/gateway/secret"
)

// library is a server of the protocol's own library, with some tools.
func library(t *testing.T, versions ...string) *protocol.Server {
	t.Helper()
	server := protocol.NewServer(&protocol.Implementation{Name: "library", Version: "1"}, &protocol.ServerOptions{SupportedProtocolVersions: versions})
	t.Cleanup(func() { // of sessions that were forgotten
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	add := func(name string, run protocol.ToolHandler) {
		server.AddTool(&protocol.Tool{Name: name, InputSchema: schema}, run)
	}
	add("echo", func(_ context.Context, r *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return told(gjson.GetBytes(r.Params.Arguments, "text").Str), nil
	})
	add("split", func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return &protocol.CallToolResult{IsError: true, Content: []protocol.Content{
			&protocol.TextContent{Text: "for the user", Annotations: &protocol.Annotations{Audience: []protocol.Role{"user"}}},
			&protocol.TextContent{Text: "for the model", Annotations: &protocol.Annotations{Audience: []protocol.Role{"assistant"}}},
		}}, nil
	})
	add("wait", func(ctx context.Context, _ *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("panic", func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return nil, fmt.Errorf("no such file: \x1b[31m%s", strings.Repeat("x", 3*longestReason))
	})
	return server
}

func told(text string) *protocol.CallToolResult {
	return &protocol.CallToolResult{Content: []protocol.Content{&protocol.TextContent{Text: text}}}
}

// listening is the configuration of a server that listens.
func listening(t *testing.T, handler http.Handler) Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return Config{Name: "remote", URL: secret.New(server.URL + "/mcp?key=key-3f9a17c2"), Timeout: 20 * time.Second}
}

func served(server *protocol.Server, options *protocol.StreamableHTTPOptions) http.Handler {
	return protocol.NewStreamableHTTPHandler(func(*http.Request) *protocol.Server { return server }, options)
}

func TestAServerIsCalledByHTTP(t *testing.T) {
	for name, tc := range map[string]struct {
		versions []string
		options  *protocol.StreamableHTTPOptions
	}{
		"2026-07-28":                  {nil, &protocol.StreamableHTTPOptions{Stateless: true}},
		"2026-07-28 as JSON":          {nil, &protocol.StreamableHTTPOptions{Stateless: true, JSONResponse: true}},
		"2025-11-25":                  {[]string{"2025-11-25"}, nil},
		"2025-06-18":                  {[]string{"2025-06-18"}, nil},
		"2025-03-26 as JSON":          {[]string{"2025-03-26"}, &protocol.StreamableHTTPOptions{JSONResponse: true}},
		"2024-11-05":                  {[]string{"2024-11-05"}, nil},
		"2025-11-25 without sessions": {[]string{"2025-11-25"}, &protocol.StreamableHTTPOptions{Stateless: true}},
	} {
		t.Run(name, func(t *testing.T) {
			server := library(t, tc.versions...)
			s, log := started(t, Options{}, listening(t, served(server, tc.options)))
			if got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"hello"}`); got.Failed || texts(got) != "hello" {
				t.Fatalf("%+v\n%s", got, log)
			}
			got := call(t, t.Context(), s, "mcp__remote__split", `{}`)
			if !got.Failed || texts(got) != "for the user|for the model" || string(got.Parts[0].Annotations) != `{"audience":["user"]}` {
				t.Errorf("%+v", got)
			}
			if got := s.Status()[0]; got.State != Up || got.Protocol != strings.Fields(name)[0] || got.Tools != 4 {
				t.Errorf("%+v\n%s", got, log)
			}
			if strings.HasSuffix(name, "without sessions") {
				return // which has nobody to tell
			}
			server.RemoveTools("wait")
			until(t, "the shorter list", func() bool { return len(s.Tools(t.Context(), []string{"remote"})) == 3 })
		})
	}
}

func TestAServersRefusalIsTold(t *testing.T) {
	s, _ := started(t, Options{}, listening(t, served(library(t), nil)))
	if got := call(t, t.Context(), s, "mcp__remote__echo", `[`); !got.Failed || texts(got) != `The MCP server "remote" has refused the call of echo: the arguments are no JSON object` {
		t.Errorf("%+v", got)
	}
	got := texts(call(t, t.Context(), s, "mcp__remote__panic", `{}`))
	if !strings.HasPrefix(got, `The MCP server "remote" has refused the call of panic: no such file: [31mxxx`) || len(got) > longestReason+100 {
		t.Error(got)
	}
}

func TestHeadersGoToTheServerAndNowhereElse(t *testing.T) {
	var requests, bare, elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	to := ""
	inner := served(library(t), nil)
	config := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer key-77aa" || r.URL.Query().Get("key") != "key-3f9a17c2" {
			bare.Add(1)
		}
		if to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	config.Headers = map[string]secret.String{"Authorization": secret.New("Bearer key-77aa")}
	s, log := started(t, Options{}, config)
	if got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`); got.Failed || requests.Load() == 0 || bare.Load() > 0 {
		t.Errorf("%+v, %d requests, %d without the headers\n%s", got, requests.Load(), bare.Load(), log)
	}
	s.Stop()
	to = other.URL
	s = New(Options{Log: s.Log})
	defer s.Stop()
	s.Configure([]Config{config})
	until(t, "it is refused", func() bool { return s.Status()[0].State == Down })
	if elsewhere.Load() > 0 {
		t.Error("another server was asked")
	}
	if strings.Contains(log.String(), "key-77aa") || strings.Contains(log.String(), "key-3f9a17c2") || strings.Contains(log.String(), "127.0.0.1") && strings.Contains(log.String(), "/mcp") {
		t.Errorf("the log has a secret or the address:\n%s", log)
	}
}

// A server that has forgotten its sessions has not run the call, which is made again.
func TestASessionThatIsGoneIsBegunAnew(t *testing.T) {
	var handler atomic.Pointer[http.Handler]
	fresh := func() {
		h := served(library(t, "2025-11-25"), nil)
		handler.Store(&h)
	}
	fresh()
	s, log := started(t, Options{}, listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) })))
	for range 3 {
		if got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`); got.Failed || texts(got) != "x" {
			t.Fatalf("%+v\n%s", got, log)
		}
		fresh()
	}
}

func TestAServerThatCannotBeReachedIsUnavailable(t *testing.T) {
	down := atomic.Bool{}
	inner := served(library(t), nil)
	s, log := started(t, Options{}, listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, r)
	})))
	if got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`); got.Failed {
		t.Fatalf("%+v", got)
	}
	down.Store(true)
	first := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`)
	until(t, "it is down", func() bool { return s.Status()[0].State == Down })
	second := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`)
	if !strings.Contains(texts(first), `The connection to the MCP server "remote" was lost`) || !strings.Contains(texts(second), "is not available") {
		t.Errorf("%s\n%s", texts(first), texts(second))
	}
	for _, text := range []string{texts(first), texts(second), log.String()} {
		if strings.Contains(text, "key-3f9a17c2") || strings.Contains(text, "/mcp?") {
			t.Errorf("it has the address: %s", text)
		}
	}
	down.Store(false)
	if got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"back"}`); got.Failed || texts(got) != "back" {
		t.Errorf("%+v\n%s", got, log)
	}
}

// A stream that breaks off is gone on with by the server's own mark in it.
func TestAStreamThatBreaksOffIsGoneOnWith(t *testing.T) {
	var resumed atomic.Value
	reply := `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"late","mimeType":"text/markdown"}]}}`
	id := ""
	s, log := started(t, Options{}, listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		message := gjson.ParseBytes(body)
		switch method := message.Get("method").Str; {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
			resumed.Store(r.Header.Get("Last-Event-ID"))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 2\ndata: "+reply+"\n\n", id)
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case method == "tools/call":
			id = message.Get("id").Raw
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: mark-1\nretry: 20\ndata:\n\n: wait\n\n")
		case message.Get("id").Exists():
			result := plain(method, message)
			if result == "" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.Get("id").Raw, result)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})))
	got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`)
	if got.Failed || texts(got) != "late" || got.Parts[0].MIME != "text/markdown" || resumed.Load() != "mark-1" {
		t.Errorf("%+v, resumed at %v\n%s", got, resumed.Load(), log)
	}
}

func TestARemoteReplyThatIsTooLargeIsNone(t *testing.T) {
	for _, media := range []string{"application/json", "text/event-stream"} {
		t.Run(media, func(t *testing.T) {
			config := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				message := gjson.ParseBytes(body)
				if method := message.Get("method").Str; method == "tools/call" {
					w.Header().Set("Content-Type", media)
					fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, message.Get("id").Raw)
					for range largestMessage/1024 + 1 {
						fmt.Fprint(w, strings.Repeat("x", 1024))
					}
				} else if result := plain(method, message); result != "" {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.Get("id").Raw, result)
				} else if r.Method == http.MethodPost && !message.Get("id").Exists() {
					w.WriteHeader(http.StatusAccepted)
				} else {
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
			}))
			s, log := started(t, Options{}, config)
			if got := call(t, t.Context(), s, "mcp__remote__echo", `{"text":"x"}`); !got.Failed || !strings.Contains(texts(got), "was lost during the call") {
				t.Errorf("%.300v\n%.2000s", got, log)
			}
		})
	}
}

func TestARemoteCallIsCancelled(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			ended := make(chan struct{})
			server := library(t, version)
			server.AddTool(&protocol.Tool{Name: "long", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
				<-ctx.Done()
				close(ended)
				return nil, ctx.Err()
			})
			config := listening(t, served(server, &protocol.StreamableHTTPOptions{Stateless: version > "2026", PropagateRequestCancellation: true}))
			config.Timeout = 200 * time.Millisecond
			s, log := started(t, Options{}, config)
			if got := call(t, t.Context(), s, "mcp__remote__long", `{}`); !strings.Contains(texts(got), "has not answered within 200ms") {
				t.Errorf("%+v\n%s", got, log)
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Error("the server goes on")
			}
		})
	}
}
