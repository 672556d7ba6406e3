package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/secret"
	"warmpath/gateway/tools/mcp"
)

func TestServers(t *testing.T) {
	got := given{env: map[string]string{"KEY": "k-1"}, file: `
mcp:
  search: {url: "https://mcp.example.com/mcp?key=k-2", headers: {Authorization: Bearer env:KEY, X-Plain: a b}}
  files: {command: npx, args: ["-y", server, "--", /srv], env: {TOKEN: env:KEY, MOTTO: to be or not}, tools: [read_*], timeout: 2m, connect_timeout: 30s}
routes: {"*": {tools: {mcp: [files]}}}
tools: {timeout: 90s}
`}.mustLoad(t)
	want := []mcp.Config{
		{
			Name: "files", Command: "npx", Args: []string{"-y", "server", "--", "/srv"}, Tools: []string{"read_*"}, Timeout: 2 * time.Minute, Connect: 30 * time.Second,
			Env: map[string]secret.String{"TOKEN": secret.New("k-1"), "MOTTO": secret.New("to be or not")},
		},
		{
			Name: "search", URL: secret.New("https://mcp.example.com/mcp?key=k-2"), Timeout: 90 * time.Second, Connect: mcp.DefaultConnect,
			Headers: map[string]secret.String{"Authorization": secret.New("Bearer k-1"), "X-Plain": secret.New("a b")},
		},
	}
	if diff := cmp.Diff(want, got.MCP, cmp.Comparer(sameSecret)); diff != "" || len(got.Warnings) > 0 {
		t.Error(diff, got.Warnings)
	}
}

func TestServersThatLeakAreWarnedOf(t *testing.T) {
	for file, want := range map[string]bool{
		"{url: 'http://mcp.example.com/mcp', headers: {A: b}}":  true,
		"{url: 'http://mcp.example.com/mcp?key=x'}":             true,
		"{url: 'http://mcp.example.com/mcp'}":                   false,
		"{url: 'http://127.0.0.1:9000/mcp', headers: {A: b}}":   false,
		"{url: 'https://mcp.example.com/mcp', headers: {A: b}}": false,
	} {
		warnings := given{file: "mcp: {s: " + file + "}"}.mustLoad(t).Warnings
		if (len(warnings) == 1) != want || strings.Contains(strings.Join(warnings, ""), "key=") {
			t.Errorf("%s: %v", file, warnings)
		}
	}
}

func TestFaultyServers(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"a name with two underscores", "a__b: {command: x}", "mcp.a__b is not a name for a server"},
		{"nothing to reach it by", "a: {timeout: 1s}", "mcp.a says not how the server is reached; give it a command or a url"},
		{"two ways", "a: {command: x, url: 'http://x'}", "mcp.a.url is given beside a command"},
		{"an empty command", "a: {command: ''}", "mcp.a.command is empty"},
		{"no address", "a: {url: 'ftp://hunter2/x'}", "mcp.a.url is no address of a server; write http://host/path or https://host/path"},
		{"headers of a program", "a: {command: x, headers: {a: b}}", "mcp.a.headers are for a server with a url"},
		{"arguments of an address", "a: {url: 'http://x', args: [b]}", "mcp.a.args are for a server with a command"},
		{"variables of an address", "a: {url: 'http://x', env: {b: c}}", "mcp.a.env is for a server with a command"},
		{"a header that is none", "a: {url: 'http://x', headers: {'a b': hunter2}}", "is not the name of a header"},
		{"a header's value that is none", "a: {url: 'http://x', headers: {a: \"hunter2\\r\\nb: c\"}}", "mcp.a.headers.a has characters that no header can carry"},
		{"a variable that is none", "a: {command: x, env: {'a=b': hunter2}}", "is no variable that a program can get"},
		{"a reference to nothing", "a: {command: x, env: {b: env:NO_SUCH}}", "mcp.a.env.b refers to the variable NO_SUCH, which is not set or empty"},
		{"no time", "a: {command: x, timeout: soon}", `mcp.a.timeout is "soon", which is not a length of time`},
		{"zero time", "a: {command: x, connect_timeout: 0s}", "mcp.a.connect_timeout is 0s; write a time from more than 0s"},
		{"an unknown setting", "a: {comand: x}", "mcp.a.comand is not a setting; did you mean command?"},
		{"a route to a server that is nowhere", "a: {command: x}\nroutes: {'*': {tools: {mcp: [a, b]}}}", `routes.*.tools.mcp has "b", which is no server of the section mcp`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := given{file: "mcp:\n  " + tc.file}.load(t)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}
