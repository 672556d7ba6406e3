package main

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"testing"
)

// The demonstration shows what the gateway is for: more from the cache, and no
// turn that is refused.
func TestDemo(t *testing.T) {
	var stdout bytes.Buffer
	if code := demo(nil, &stdout, io.Discard); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	found := regexp.MustCompile(`(\d+)% cached, cost \d+k, refused (\d+) +(\d+)% cached, cost \d+k, refused (\d+)\n$`).FindStringSubmatch(stdout.String())
	if found == nil {
		t.Fatalf("no sums in\n%s", &stdout)
	}
	var n [5]int
	for i := 1; i < len(n); i++ {
		n[i], _ = strconv.Atoi(found[i])
	}
	if straight, through := n[1], n[3]; straight > 85 || through < 93 {
		t.Errorf("%d%% cached straight, %d%% through", straight, through)
	}
	if straight, through := n[2], n[4]; straight == 0 || through > 0 {
		t.Errorf("%d turns refused straight, %d through", straight, through)
	}
	if n := bytes.Count(stdout.Bytes(), []byte("\n")); n < 30 {
		t.Errorf("%d lines:\n%s", n, &stdout)
	}
}
