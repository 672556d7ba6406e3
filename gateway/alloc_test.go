package gateway_test

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"

	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// canned is a provider that allocates nothing per request: it reads a request
// of a known length and answers with the same bytes each time.
func canned(t testing.TB, answer []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveCanned(conn, answer)
		}
	}()
	return "http://" + listener.Addr().String()
}

func serveCanned(conn net.Conn, answer []byte) {
	defer conn.Close()
	buf := make([]byte, 2<<20)
	filled, want := 0, 0
	for {
		n, err := conn.Read(buf[filled:])
		if err != nil {
			return
		}
		filled += n
		if head := bytes.Index(buf[:filled], []byte("\r\n\r\n")); want == 0 && head > 0 {
			want = head + 4 + contentLength(buf[:head])
		}
		if want > 0 && filled >= want {
			filled, want = 0, 0
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	}
}

func contentLength(head []byte) int {
	const name = "Content-Length: "
	at := bytes.Index(head, []byte(name))
	n := 0
	for i := at + len(name); at >= 0 && i < len(head) && head[i] >= '0' && head[i] <= '9'; i++ {
		n = n*10 + int(head[i]-'0')
	}
	return n
}

// exchange sends one request on an open connection and reads to the end mark.
func exchange(t testing.TB, conn net.Conn, request, buf, end []byte) int {
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	filled, total := 0, 0
	for {
		n, err := conn.Read(buf[filled:])
		if err != nil {
			t.Fatal(err)
		}
		filled, total = filled+n, total+n
		if bytes.HasSuffix(buf[:filled], end) {
			return total
		}
		if filled > len(buf)/2 {
			filled = copy(buf, buf[filled-len(end):filled])
		}
	}
}

func messagesRequest(size int, stream bool) []byte {
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-6","messages":[{"role":"user","content":"%s"}],"stream":%v}`, strings.Repeat("words, ", size/7), stream)
	return fmt.Appendf(nil, "POST /v1/messages HTTP/1.1\r\nHost: g\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func streamAnswer(events int) []byte {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := func(text string) { fmt.Fprintf(&b, "%x\r\n%s\r\n", len(text), text) }
	chunk("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"claude-opus-5\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n")
	for i := range events {
		chunk(fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word %d\"}}\n\n", i))
	}
	chunk("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n")
	chunk("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// allocations counts what the whole process allocates for one request.
func allocations(t *testing.T, mode rewrite.Mode, answer, request, end []byte) float64 {
	t.Helper()
	g, _, _ := start(t, canned(t, answer), func(cfg *config.Config) { cfg.Quiet, cfg.Mode = true, mode })
	conn, err := net.Dial("tcp", g.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	buf := make([]byte, 4<<20)
	return testing.AllocsPerRun(200, func() { exchange(t, conn, request, buf, end) })
}

// TestAllocationsOfThePassThroughPath holds what one request may allocate, and
// that neither a longer body nor a longer stream allocates more.
func TestAllocationsOfThePassThroughPath(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	whole := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply)
	// Planning reads every element of a request; a request of one message has few.
	for mode, most := range map[rewrite.Mode]float64{rewrite.ModeOff: 12, rewrite.ModeOn: 160} {
		small := allocations(t, mode, whole, messagesRequest(1<<10, false), []byte("}}"))
		large := allocations(t, mode, whole, messagesRequest(500<<10, false), []byte("}}"))
		short := allocations(t, mode, streamAnswer(20), messagesRequest(1<<10, true), []byte("0\r\n\r\n"))
		long := allocations(t, mode, streamAnswer(4000), messagesRequest(1<<10, true), []byte("0\r\n\r\n"))
		t.Logf("mode %s: whole reply %.0f and %.0f, stream %.0f and %.0f allocations", mode, small, large, short, long)
		if small > most || short > most {
			t.Errorf("mode %s: a request allocates %.0f times and a stream %.0f, want at most %.0f", mode, small, short, most)
		}
		if large > small+3 {
			t.Errorf("mode %s: a body of 500 KB allocates %.0f times, one of 1 KB %.0f", mode, large, small)
		}
		if long > short+3 {
			t.Errorf("mode %s: 4,000 events allocate %.0f times, 20 events %.0f", mode, long, short)
		}
	}
}

// BenchmarkThrough is one request through the gateway on one connection; the
// client and the provider cost little and allocate nothing.
func BenchmarkThrough(b *testing.B) {
	whole := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply)
	for _, mode := range []rewrite.Mode{rewrite.ModeOff, rewrite.ModeOn} {
		for name, c := range map[string]struct{ answer, request, end []byte }{
			"20KB":        {whole, messagesRequest(20<<10, false), []byte("}}")},
			"200KB":       {whole, messagesRequest(200<<10, false), []byte("}}")},
			"1MB":         {whole, messagesRequest(1000<<10, false), []byte("}}")},
			"stream 2000": {streamAnswer(2000), messagesRequest(1<<10, true), []byte("0\r\n\r\n")},
		} {
			b.Run(mode.String()+"/"+name, func(b *testing.B) {
				g, _, _ := start(b, canned(b, c.answer), func(cfg *config.Config) { cfg.Quiet, cfg.Mode = true, mode })
				conn, err := net.Dial("tcp", g.Addr())
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				buf := make([]byte, 4<<20)
				b.SetBytes(int64(len(c.request)))
				b.ReportAllocs()
				for b.Loop() {
					exchange(b, conn, c.request, buf, c.end)
				}
			})
		}
	}
}
