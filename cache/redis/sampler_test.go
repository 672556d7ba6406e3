package redis

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newSampler(slog.New(slog.NewTextHandler(&out, nil)))
		say := func(times int) {
			for range times {
				s.Printf(context.Background(), "cannot dial %s", "there")
			}
		}
		say(1000)
		time.Sleep(sampleEvery - time.Millisecond)
		say(1)
		time.Sleep(time.Millisecond)
		say(3)
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines, want 2:\n%s", n, out.String())
		}
		for _, want := range []string{`message="cannot dial there" dropped=0`, `message="cannot dial there" dropped=1000`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %s in\n%s", want, out.String())
			}
		}
	})
}
