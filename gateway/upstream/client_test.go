package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The library's pool cleaner sleeps for as long as a connection may idle.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"))
}

// script is a provider that plays one prepared conversation per connection.
func script(t *testing.T, play func(conn net.Conn, from *bufio.Reader)) string {
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
			go func() {
				defer conn.Close()
				play(conn, bufio.NewReader(conn))
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	client := New(config)
	t.Cleanup(client.Close)
	return client
}

func post(origin, body string) *Request {
	return &Request{Origin: origin, Method: "POST", Target: []byte("/v1/messages"), Body: []byte(body),
		Fields: []Field{{[]byte("X-aPi-key"), []byte("k")}, {[]byte("accept"), []byte("*/*")}}}
}

func readAll(t *testing.T, resp *Response) (string, error) {
	t.Helper()
	var all []byte
	for {
		chunk, err := resp.Next(time.Minute)
		all = append(all, chunk...)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return string(all), err
		}
	}
}

func TestRequestOnTheWire(t *testing.T) {
	got := make(chan string, 1)
	origin := script(t, func(conn net.Conn, from *bufio.Reader) {
		var head strings.Builder
		for {
			line, err := from.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
			if line == "\r\n" {
				break
			}
		}
		body := make([]byte, 5)
		_, _ = io.ReadFull(from, body)
		got <- head.String() + string(body)
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	resp, err := newClient(t, Config{}).Do(context.Background(), post(origin, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Close()
	want := "POST /v1/messages HTTP/1.1\r\nHost: " + strings.TrimPrefix(origin, "http://") +
		"\r\nX-aPi-key: k\r\naccept: */*\r\nContent-Length: 5\r\n\r\nhello"
	if wire := <-got; wire != want {
		t.Errorf("sent %q\nwant %q", wire, want)
	}
}

func TestReplyFraming(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	tests := map[string]struct {
		reply string
		want  string
		wrong bool
		reuse bool
	}{
		"length":               {reply: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", want: "hello", reuse: true},
		"no body":              {reply: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", reuse: true},
		"chunks":               {reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", want: "hello", reuse: true},
		"until close":          {reply: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", want: "hello"},
		"long body":            {reply: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(long), long), want: long, reuse: true},
		"long chunk":           {reply: fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(long), long), want: long, reuse: true},
		"interim reply":        {reply: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", want: "ok", reuse: true},
		"large head":           {reply: "HTTP/1.1 200 OK\r\nX-Large: " + strings.Repeat("x", 20_000) + "\r\nContent-Length: 2\r\n\r\nok", want: "ok", reuse: true},
		"cut by length":        {reply: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", want: "hello", wrong: true},
		"cut in chunk":         {reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", want: "hello", wrong: true},
		"cut between chunks":   {reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", want: "hello", wrong: true},
		"malformed chunk":      {reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", wrong: true},
		"bytes after the body": {reply: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200", want: "ok"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var dials atomic.Int32
			origin := script(t, func(conn net.Conn, from *bufio.Reader) {
				dials.Add(1)
				for {
					if _, err := http.ReadRequest(from); err != nil {
						return
					}
					_, _ = io.WriteString(conn, test.reply)
					if !test.reuse {
						return
					}
				}
			})
			client := newClient(t, Config{})
			for range 2 {
				resp, err := client.Do(context.Background(), &Request{Origin: origin, Method: "GET", Target: []byte("/")})
				if err != nil {
					t.Fatal(err)
				}
				got, err := readAll(t, resp)
				if (err != nil) != test.wrong || got != test.want {
					t.Errorf("read %.80q, %v; want %.80q, an error: %v", got, err, test.want, test.wrong)
				}
				if again, err := resp.Next(time.Minute); len(again) > 0 || err == nil {
					t.Errorf("after the end: %q, %v; want the same end", again, err)
				}
				resp.Close()
			}
			if want := map[bool]int32{true: 1, false: 2}[test.reuse]; dials.Load() != want {
				t.Errorf("dialled %d times, want %d", dials.Load(), want)
			}
		})
	}
}

func TestEverySplitOfAReplyReadsTheSame(t *testing.T) {
	reply := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
	var cut atomic.Int32
	origin := script(t, func(conn net.Conn, from *bufio.Reader) {
		for {
			if _, err := http.ReadRequest(from); err != nil {
				return
			}
			at := cut.Load()
			_, _ = io.WriteString(conn, reply[:at])
			time.Sleep(time.Millisecond)
			_, _ = io.WriteString(conn, reply[at:])
		}
	})
	client := newClient(t, Config{})
	for at := range len(reply) {
		cut.Store(int32(at))
		resp, err := client.Do(context.Background(), post(origin, "{}"))
		if err != nil {
			t.Fatalf("cut at %d: %v", at, err)
		}
		if got, err := readAll(t, resp); got != "hello" || err != nil {
			t.Errorf("cut at %d: read %q, %v", at, got, err)
		}
		resp.Close()
	}
}

func TestCancelInEveryPhase(t *testing.T) {
	hold := func(conn net.Conn, from *bufio.Reader) { _, _ = io.Copy(io.Discard, from) }
	tests := map[string]func(conn net.Conn, from *bufio.Reader){
		"before the head": hold,
		"in silence": func(conn net.Conn, from *bufio.Reader) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n")
			hold(conn, from)
		},
	}
	for name, play := range tests {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{})
			origin := script(t, func(conn net.Conn, from *bufio.Reader) {
				play(conn, from) // returns when the gateway has closed
				close(closed)
			})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(20*time.Millisecond, cancel)
			resp, err := newClient(t, Config{}).Do(ctx, post(origin, "{}"))
			if err == nil {
				_, err = readAll(t, resp)
				resp.Close()
			}
			if err == nil {
				t.Error("no error after the cancellation")
			}
			select {
			case <-closed:
			case <-time.After(5 * time.Second):
				t.Error("the provider still holds the connection")
			}
		})
	}
}

func TestIdleConnectionThatTheProviderClosed(t *testing.T) {
	var served atomic.Int32
	origin := script(t, func(conn net.Conn, from *bufio.Reader) {
		if _, err := http.ReadRequest(from); err != nil {
			return
		}
		served.Add(1)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	client := newClient(t, Config{})
	for i := range 20 {
		resp, err := client.Do(context.Background(), post(origin, `{"n":1}`))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if _, err := readAll(t, resp); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		resp.Close()
	}
	if served.Load() != 20 {
		t.Errorf("the provider served %d requests, want 20: none may be sent twice", served.Load())
	}
}

func TestFailuresNameTheirPhase(t *testing.T) {
	closing := script(t, func(net.Conn, *bufio.Reader) {})
	silent := script(t, func(_ net.Conn, from *bufio.Reader) { _, _ = io.Copy(io.Discard, from) })
	nonsense := script(t, func(conn net.Conn, from *bufio.Reader) {
		_, _ = http.ReadRequest(from)
		_, _ = io.WriteString(conn, "HTTP/1.1 two hundred\r\nSecret-Header: s3cr3t\r\n\r\n")
	})
	tests := map[string]struct {
		origin  string
		phases  []Phase
		timeout bool
	}{
		"nobody listens":  {origin: "http://127.0.0.1:1", phases: []Phase{PhaseConnect}},
		"no origin":       {origin: "ftp://x", phases: []Phase{PhaseConnect}},
		"closes at once":  {origin: closing, phases: []Phase{PhaseSend, PhaseHead}},
		"never answers":   {origin: silent, phases: []Phase{PhaseHead}, timeout: true},
		"answers garbage": {origin: nonsense, phases: []Phase{PhaseHead}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(t, Config{Head: 50 * time.Millisecond}).Do(context.Background(), post(test.origin, "{}"))
			var broken *Error
			if !errors.As(err, &broken) {
				t.Fatalf("error = %v, want an *Error", err)
			}
			known := false
			for _, phase := range test.phases {
				known = known || broken.Phase == phase
			}
			if !known || broken.Timeout() != test.timeout {
				t.Errorf("phase %s, timeout %v: %v; want %v, %v", broken.Phase, broken.Timeout(), err, test.phases, test.timeout)
			}
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("the error quotes a header: %v", err)
			}
		})
	}
}

func TestSilenceIsNotTheEnd(t *testing.T) {
	origin := script(t, func(conn net.Conn, from *bufio.Reader) {
		_, _ = http.ReadRequest(from)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhe")
		time.Sleep(100 * time.Millisecond)
		_, _ = io.WriteString(conn, "yo")
	})
	resp, err := newClient(t, Config{}).Do(context.Background(), post(origin, "{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	got, silences := "", 0
	for {
		chunk, err := resp.Next(10 * time.Millisecond)
		got += string(chunk)
		if errors.Is(err, ErrSilent) {
			silences++
			continue
		}
		if err != nil {
			break
		}
	}
	if got != "heyo" || silences == 0 {
		t.Errorf("read %q with %d silences, want %q with some", got, silences, "heyo")
	}
}

func TestOverTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	client := newClient(t, Config{TLS: server.Client().Transport.(*http.Transport).TLSClientConfig})
	for _, size := range []int{10, 300_000} {
		body := strings.Repeat("x", size)
		resp, err := client.Do(context.Background(), post(server.URL, body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, resp); got != body || err != nil {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, size)
		}
		resp.Close()
	}
}

// A provider may answer before it has read the body, and read no more of it.
func TestAnswerBeforeTheBodyWasRead(t *testing.T) {
	origin := script(t, func(conn net.Conn, from *bufio.Reader) {
		for {
			line, err := from.ReadString('\n')
			if err != nil || line == "\r\n" {
				break
			}
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
		_ = conn.(*net.TCPConn).CloseWrite()
		// The rest is taken for a while, as servers do, so that the answer is
		// not lost to a reset.
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, _ = io.CopyN(io.Discard, from, 8<<20)
	})
	resp, err := newClient(t, Config{}).Do(context.Background(), post(origin, strings.Repeat("x", 64<<20)))
	if err != nil {
		t.Fatalf("the answer is lost: %v", err)
	}
	defer resp.Close()
	if got, err := readAll(t, resp); resp.Status != 413 || got != "large" || err != nil {
		t.Errorf("read %d %q, %v", resp.Status, got, err)
	}
}

func TestNoContentTypeIsInvented(t *testing.T) {
	origin := script(t, func(conn net.Conn, from *bufio.Reader) {
		_, _ = http.ReadRequest(from)
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n")
	})
	resp, err := newClient(t, Config{}).Do(context.Background(), post(origin, "{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	resp.Fields(func(name, value []byte) {
		if string(name) != "X-A" {
			t.Errorf("header %s: %s", name, value)
		}
	})
}
