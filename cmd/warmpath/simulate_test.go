package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/provider"
)

func TestSimulate(t *testing.T) {
	signals := make(chan os.Signal, 1)
	stdout, stderr := newOutput(), newOutput()
	ended := make(chan int, 1)
	go func() {
		ended <- simulateUntil(signals, []string{"--addr", "127.0.0.1:0", "--damage", "crlf,split=3"}, stdout, stderr)
	}()
	stdout.await(t, "/sim/requests\n\n")
	origin := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(stdout.String())
	r, err := http.NewRequest(http.MethodPost, origin+"/v1/responses", strings.NewReader(`{"model":"gpt-5.5","input":"hello","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer k")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reply.Body)
	_ = reply.Body.Close()
	if err != nil || !bytes.Contains(body, []byte("event: response.completed\r\n")) {
		t.Errorf("the stream is damaged in another way: %v\n%s", err, body)
	}
	stdout.await(t, "200 POST /v1/responses")
	http.DefaultClient.CloseIdleConnections()
	signals <- syscall.SIGTERM
	if code := <-ended; code != exitOK || stderr.String() != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestSimulateRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"an argument": {"now"}, "an unknown damage": {"--damage", "fire"}, "a split of nothing": {"--damage", "split=0"}, "an unknown flag": {"--fast"},
	} {
		var stdout, stderr bytes.Buffer
		if code := simulateUntil(nil, args, &stdout, &stderr); code != exitUsage || !strings.HasPrefix(stderr.String(), "warmpath simulate: ") {
			t.Errorf("%s: exit code %d, %s", name, code, stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := simulateUntil(nil, []string{"--addr", "nowhere"}, &stdout, &stderr); code != exitFailure || stderr.Len() == 0 {
		t.Errorf("an address that is none: exit code %d, %s", code, stderr.String())
	}
}

func TestParseDamage(t *testing.T) {
	got, err := parseDamage("pair,split=7,crlf")
	if diff := cmp.Diff(provider.Damage{Split: 7, Pair: true, CRLF: true}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
