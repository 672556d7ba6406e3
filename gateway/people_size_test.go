package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
)

// asksAlways is what a model answers that asks the user something whatever it is told.
const asksAlways = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I have to ask."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"ask_user","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"questions\":[{\"kind\":\"choice\",\"text\":\"Which database?\",\"options\":[\"PostgreSQL\",\"SQLite\"]}]}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}

event: message_stop
data: {"type":"message_stop"}

`

// WT-09: a stream that waits for a person is small. Of what it holds the client's
// connection has 12 KiB, the stacks of two goroutines 16 KiB, and the prompt less than
// 32 KiB, as the test of the book says; the rest is the conversation, which is gone on
// with: its bytes, and what was read of them. Provider and clients are in this process
// too, but keep nothing save sockets.
func TestAStreamThatWaitsIsSmall(t *testing.T) {
	const streams, most = 100, 64 << 10
	if raceEnabled {
		t.Skip("the race detector keeps more")
	}
	for name, size := range map[string]int{"of a few words": 0, "of 200 KB": 200 << 10} {
		t.Run(name, func(t *testing.T) {
			each := waits(t, streams, strings.Repeat("word ", size/5))
			t.Logf("%d bytes for each stream that waits", each)
			if bound := int64(most + 2*size + size/4); each > bound {
				t.Errorf("%d bytes for each stream that waits, want at most %d", each, bound)
			}
		})
	}
}

// waits has streams wait for a person, in conversations of their own that begin with a
// text, and gives how many bytes each takes.
func waits(t *testing.T, streams int, text string) int64 {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, asksAlways)
	}))
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{
		Routes: map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}}, Providers: everyRow(origin.URL),
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ := startWith(t, origin.URL, gateway.Options{}, func(cfg *config.Config) {
		cfg.Catalog, cfg.Quiet = snapshot, true
		cfg.Timeouts.Heartbeat, cfg.Prompts.Expiry = 20*time.Millisecond, time.Minute
	})
	begin := func(conversation int) {
		t.Helper()
		body := fmt.Sprintf(`{"model":"claude/claude-opus-5-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"This is conversation %d. %s"}]}`, conversation, text)
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err = fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: gateway\r\nX-Api-Key: sk-client\r\nAnthropic-Version: 2023-06-01\r\nWarmpath-Capabilities: %s\r\nContent-Length: %d\r\n\r\n%s",
			capable, len(body), body); err != nil {
			t.Fatal(err)
		}
		// The first heartbeat comes while the person is waited for.
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		var got []byte
		for piece := [512]byte{}; !bytes.Contains(got, []byte("event: ping")); {
			n, err := conn.Read(piece[:])
			if got = append(got, piece[:n]...); err != nil {
				t.Fatalf("%v after %s", err, got)
			}
		}
	}
	begin(0)
	before := inUse()
	for i := range streams {
		begin(1 + i)
	}
	if _, list := request(t, "GET", base+"/warmpath/v1/prompts?state=open", "", "X-Api-Key", "sk-client"); list.Get("prompts.#").Int() != int64(streams)+1 {
		t.Fatalf("%s prompts are open", list.Get("prompts.#"))
	}
	return (inUse() - before) / int64(streams)
}

// inUse is the memory of heap and stacks that is in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
