package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a client whose only provider plays a script over an in-memory
// connection, so that its deadlines run on virtual time.
func piped(config Config, play func(conn net.Conn, from *bufio.Reader)) *Client {
	client := New(config)
	client.dial = func(string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			play(theirs, bufio.NewReader(theirs))
		}()
		return ours, nil
	}
	return client
}

// settle lets the pool's cleaner and slow providers come to their end.
func settle() { time.Sleep(3 * time.Hour) }

func TestHeadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer settle()
		client := piped(Config{Head: 10 * time.Minute}, func(_ net.Conn, from *bufio.Reader) { _, _ = io.Copy(io.Discard, from) })
		began := time.Now()
		_, err := client.Do(context.Background(), post("http://provider", "{}"))
		var broken *Error
		if !errors.As(err, &broken) || broken.Phase != PhaseHead || !broken.Timeout() {
			t.Errorf("error = %v, want a timeout in the head", err)
		}
		if waited := time.Since(began); waited != 10*time.Minute {
			t.Errorf("waited %v, want 10 minutes", waited)
		}
	})
}

func TestSendTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer settle()
		client := piped(Config{Send: time.Minute}, func(net.Conn, *bufio.Reader) { time.Sleep(time.Hour) })
		began := time.Now()
		_, err := client.Do(context.Background(), post("http://provider", "{}"))
		var broken *Error
		if !errors.As(err, &broken) || broken.Phase != PhaseSend || !broken.Timeout() {
			t.Errorf("error = %v, want a timeout while sending", err)
		}
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("waited %v, want a minute", waited)
		}
	})
}

// A long stream must not be cut by the deadline of its head, and silence is
// reported between three quarters of the asked time and all of it.
func TestLongStreamWithSilences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer settle()
		const silence = 20 * time.Second
		client := piped(Config{Head: time.Second}, func(conn net.Conn, from *bufio.Reader) {
			_, _ = http.ReadRequest(from)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			for range 200 {
				_, _ = io.WriteString(conn, "1\r\nx\r\n")
				time.Sleep(3 * time.Second)
			}
			time.Sleep(time.Minute)
			_, _ = io.WriteString(conn, "0\r\n\r\n")
		})
		resp, err := client.Do(context.Background(), post("http://provider", "{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Close()
		var got, silences int
		for {
			asked := time.Now()
			chunk, err := resp.Next(silence)
			got += len(chunk)
			if errors.Is(err, ErrSilent) {
				silences++
				if waited := time.Since(asked); waited < silence-silence/4-3*time.Second || waited > silence {
					t.Errorf("silence was told after %v", waited)
				}
				continue
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got != 200 || silences < 3 {
			t.Errorf("read %d bytes with %d silences, want 200 with at least 3", got, silences)
		}
	})
}
