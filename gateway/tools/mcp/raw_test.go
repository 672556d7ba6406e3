package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

func TestKept(t *testing.T) {
	for _, tc := range []struct{ name, message, call, want string }{
		{"a result travels as it is", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"odd"}],"isError":true,"_meta":{"a":1}}}`, "",
			`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"warmpath/result":"{\"content\":[{\"type\":\"odd\"}],\"isError\":true,\"_meta\":{\"a\":1}}"},"content":[],"isError":true}}`},
		{"a list keeps what the library needs", `{"id":1,"result":{"tools":[{"name":"a","annotations":7,"inputSchema":{"b":1,"a":2}},{"name":"c"},9],"nextCursor":"n","ttlMs":5}}`, "",
			`{"id":1,"result":{"_meta":{"warmpath/result":"{\"tools\":[{\"name\":\"a\",\"annotations\":7,\"inputSchema\":{\"b\":1,\"a\":2}},{\"name\":\"c\"},9],\"nextCursor\":\"n\",\"ttlMs\":5}"},"tools":[{"name":"a","inputSchema":{"b":1,"a":2}}],"nextCursor":"n","ttlMs":5}}`},
		{"a question says in which call it stands", `{"id":1,"method":"elicitation/create","params":{"message":"m","_meta":{"x":1,"warmpath/call":"9"}}}`, "7",
			`{"id":1,"method":"elicitation/create","params":{"_meta":{"warmpath/call":"7","warmpath/params":"{\"message\":\"m\",\"_meta\":{\"x\":1,\"warmpath/call\":\"9\"}}","x":1},"message":"m"}}`},
		{"a question does not say itself in which", `{"id":1,"method":"elicitation/create","params":{"_meta":{"warmpath/call":"9"}}}`, "",
			`{"id":1,"method":"elicitation/create","params":{"_meta":{"warmpath/params":"{\"_meta\":{\"warmpath/call\":\"9\"}}"}}}`},
		{"another message stays", `{"id":1,"result":{"protocolVersion":"x","capabilities":{}}}`, "", `{"id":1,"result":{"protocolVersion":"x","capabilities":{}}}`},
		{"an error stays", `{"id":1,"error":{"code":1,"message":"content"}}`, "", `{"id":1,"error":{"code":1,"message":"content"}}`},
		{"a batch", `[{"id":1,"result":{"contents":[]}},{"id":2,"result":{}}]`, "", `[{"id":1,"result":{"_meta":{"warmpath/result":"{\"contents\":[]}"},"contents":[]}},{"id":2,"result":{}}]`},
		{"no message", `{"id":1,"result":{"content":[`, "", `{"id":1,"result":{"content":[`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(kept([]byte(tc.message), tc.call)); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The library reads what was kept, whatever it was.
func FuzzKept(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a","annotations":{"audience":"user"}}],"structuredContent":7}`)
	f.Add(`{"tools":[{"name":7}],"resultType":"complete"}`)
	f.Add(`{"content":null,"inputRequests":{"a":{"method":"x"}},"resultType":"input_required"}`)
	f.Fuzz(func(t *testing.T, result string) {
		message := `{"jsonrpc":"2.0","id":1,"result":` + result + `}`
		if !gjson.Valid(message) || !gjson.Parse(result).IsObject() || len(result) > 1000 {
			return
		}
		got := kept([]byte(message), "1")
		if !gjson.ValidBytes(got) {
			t.Fatalf("%s is no JSON", got)
		}
		if !bearing([]byte(strings.TrimSpace(result))) {
			return
		}
		var read protocol.CallToolResult
		text := gjson.GetBytes(got, "result").Raw
		if duplicates(result) {
			return
		}
		// Bytes that are no UTF-8 are replaced one by one.
		want := string([]rune(strings.TrimSpace(result)))
		if err := json.Unmarshal([]byte(text), &read); err == nil && string(rawOf(read.Meta)) != want {
			t.Errorf("%s travelled as %s", result, rawOf(read.Meta))
		}
	})
}

// duplicates reports whether an object has a member twice, of which either may win.
func duplicates(object string) bool {
	seen := map[string]bool{}
	twice := false
	gjson.Parse(object).ForEach(func(key, _ gjson.Result) bool {
		twice = twice || seen[key.Str]
		seen[key.Str] = true
		return true
	})
	return twice
}
