package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJoin(t *testing.T) {
	for _, tc := range []struct{ base, path, want string }{
		{"https://api.openai.com/v1", "/v1/chat/completions", "/v1/chat/completions"},
		{"https://api.openai.com/v1", "/chat/completions", "/v1/chat/completions"},
		{"https://api.openai.com/v1", "chat/completions", "/v1/chat/completions"},
		{"https://api.openai.com/v1/", "/v1/responses", "/v1/responses"},
		{"https://api.openai.com", "/v1/responses", "/v1/responses"},
		{"https://api.openai.com/", "/v1/responses", "/v1/responses"},
		{"https://api.openai.com", "", "/"},
		{"https://api.openai.com/v1", "", "/v1/"},
		{"https://api.openai.com/v1", "/v1", "/v1"},
		{"https://api.openai.com/v1", "/v1/", "/v1/"},
		{"https://api.openai.com/v1", "/v1x/models", "/v1/v1x/models"},
		{"https://api.openai.com/v1", "/v10/models", "/v1/v10/models"},
		{"https://api.openai.com/v1", "/v1/v1/models", "/v1/v1/models"},
		{"https://api.openai.com/v1", "//v1/models", "/v1//v1/models"},
		{"https://api.z.ai/api/paas/v4", "/v1/chat/completions", "/api/paas/v4/chat/completions"},
		{"https://api.z.ai/api/paas/v4", "/v4/chat/completions", "/api/paas/v4/chat/completions"},
		{"https://api.z.ai/api/paas/v4", "/v1", "/api/paas/v4"},
		{"https://api.z.ai/api/paas/v4", "/v2/models", "/api/paas/v4/v2/models"},
		{"https://api.z.ai/api/anthropic", "/v1/messages", "/api/anthropic/v1/messages"},
		{"https://api.deepseek.com/anthropic", "/v1/messages/count_tokens", "/anthropic/v1/messages/count_tokens"},
		{"https://openrouter.ai/api/v1", "/v1/messages", "/api/v1/messages"},
		{"https://api.groq.com/openai/v1", "/v1/chat/completions", "/openai/v1/chat/completions"},
		{"https://generativelanguage.googleapis.com", "/v1beta/models/gemini-2.5-pro:generateContent", "/v1beta/models/gemini-2.5-pro:generateContent"},
		{"https://example.com/v1beta", "/v1beta/models/a:countTokens", "/v1beta/models/a:countTokens"},
		{"https://example.com/proxy/v1beta", "/v1/models", "/proxy/v1beta/models"},
		// Raw paths stay raw: nothing is decoded, on either side.
		{"https://example.com/a%2Fb/v1", "/v1/files/x%2Fy%20z", "/a%2Fb/v1/files/x%2Fy%20z"},
		{"https://example.com/v1", "/%76%31/models", "/v1/%76%31/models"},
		// Not versions.
		{"https://example.com/v", "/v1/models", "/v/v1/models"},
		{"https://example.com/vX1", "/v1/models", "/vX1/v1/models"},
		{"https://example.com/v1-beta", "/v1/models", "/v1-beta/v1/models"},
		{"https://example.com/v1/proxy", "/v1/models", "/v1/proxy/v1/models"},
	} {
		t.Run(tc.base+" "+tc.path, func(t *testing.T) {
			base, err := ParseBase(tc.base)
			if err != nil {
				t.Fatal(err)
			}
			if got := base.Join(tc.path); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestParseBase(t *testing.T) {
	type parts struct {
		TLS           bool
		Host, Address string
		URL           string
	}
	for raw, want := range map[string]parts{
		"https://api.example.com":        {true, "api.example.com", "api.example.com:443", "https://api.example.com"},
		"http://api.example.com/v1/":     {false, "api.example.com", "api.example.com:80", "http://api.example.com/v1"},
		"https://api.example.com:8443/x": {true, "api.example.com:8443", "api.example.com:8443", "https://api.example.com:8443/x"},
		"http://[::1]:9000/v1":           {false, "[::1]:9000", "[::1]:9000", "http://[::1]:9000/v1"},
		"http://[::1]":                   {false, "[::1]", "[::1]:80", "http://[::1]"},
	} {
		t.Run(raw, func(t *testing.T) {
			base, err := ParseBase(raw)
			if err != nil {
				t.Fatal(err)
			}
			got := parts{base.TLS, base.Host, base.Address, base.String()}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseBaseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, raw, says string }{
		{"no scheme", "hunter2.example.com/v1", "must begin with https://"},
		{"another scheme", "ftp://hunter2/", "must begin with https://"},
		{"a file", "file:///hunter2", "must begin with https://"},
		{"a user", "https://hunter2@api.example.com", "user name or password"},
		{"a password", "https://me:hunter2@api.example.com", "user name or password"},
		{"a query", "https://api.example.com/?key=hunter2", "query or a fragment"},
		{"an empty query", "https://api.example.com/?", "query or a fragment"},
		{"a fragment", "https://api.example.com/#hunter2", "query or a fragment"},
		{"an empty fragment", "https://api.example.com/#", "query or a fragment"},
		{"no host", "https:///hunter2", "names no host"},
		{"only a port", "https://:443/hunter2", "names no host"},
		{"a bad port", "https://hunter2:99999", "port that is not a number"},
		{"port zero", "https://hunter2:0", "port that is not a number"},
		{"no port", "https://hunter2:", "no port"},
		{"dots", "https://api.example.com/hunter2/../v1", ". or .."},
		{"not a URL", "https://hunter2 /\x7f", "is not a URL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseBase(tc.raw)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want an error saying %q", err, tc.says)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats the URL: %v", err)
			}
		})
	}
}
