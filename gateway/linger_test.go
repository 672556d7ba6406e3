package gateway_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRefusalReachesWhoIsStillSending is about clients that read the answer only
// when they are done: they must get it, but cannot keep the connection by sending.
func TestRefusalReachesWhoIsStillSending(t *testing.T) {
	g, _, _ := start(t, "http://127.0.0.1:1", nil)
	for name, sent := range map[string]int{"little": 100 << 10, "more than is taken": 700 << 10} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", g.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			_, _ = io.WriteString(conn, "POST /v1/messages HTTP/1.1\r\nHost: g\r\nContent-Length: 9000000\r\n\r\n"+strings.Repeat("x", sent))
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 413 ") || !strings.HasSuffix(string(got), "}") {
				t.Errorf("the client got %.80q and %v", got, err)
			}
			for err = nil; err == nil; {
				_, err = conn.Write(make([]byte, 1<<10))
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the client could go on sending for five seconds")
			}
		})
	}
}
