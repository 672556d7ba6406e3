package gateway_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
)

// A page that anybody's browser shows must not spend the gateway's keys.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	p := newProvider(t, answerWith(reply))
	lend := func(cfg *config.Config) {
		snapshot, problems := catalog.Build(catalog.Settings{
			Addresses: map[string]string{"anthropic": p.URL},
			Providers: map[string]catalog.Row{"anthropic": {Key: secret.New("house-key")}},
		})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		cfg.Catalog = snapshot
	}
	for name, tt := range map[string]struct {
		change func(*config.Config)
		origin string
		status int
	}{
		"no page":              {lend, "", 200},
		"a page elsewhere":     {lend, "https://evil.example", 403},
		"a page without one":   {lend, "null", 403},
		"one that looks local": {lend, "http://localhost.evil.example", 403},
		"a page from here":     {lend, "http://localhost:3000", 200},
		"a page by number":     {lend, "http://127.0.0.1:3000", 200},
		"a page by long one":   {lend, "http://[::1]:3000", 200},
		"nothing to spend":     {nil, "https://elsewhere.example", 200},
		"with an access key": {func(cfg *config.Config) {
			lend(cfg)
			cfg.AccessKeys = []secret.String{secret.New("team")}
		}, "https://elsewhere.example", 200},
	} {
		t.Run(name, func(t *testing.T) {
			_, base, _ := start(t, p.URL, tt.change)
			req, err := http.NewRequest("POST", base+"/v1/messages", strings.NewReader(`{"model":"claude-opus-5"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", "team")
			if tt.origin != "" {
				req.Header.Set("Origin", tt.origin)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got, _ := io.ReadAll(resp.Body); resp.StatusCode != tt.status {
				t.Errorf("status %d: %s", resp.StatusCode, got)
			}
		})
	}
}

// What compressed bodies unpack to is counted with the others that are held.
func TestUnpackedBodiesHaveBounds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = io.WriteString(w, reply)
	})
	_, base, _ := start(t, p.URL, func(cfg *config.Config) {
		cfg.Limits.DecodedBody, cfg.Limits.BodiesInFlight = 4<<20, 6<<20
	})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `{"model":"claude-opus-5","x":"`+strings.Repeat("a", 3<<20)+`"}`)
	_ = z.Close()
	post := func() int {
		req, err := http.NewRequest("POST", base+"/v1/messages", bytes.NewReader(packed.Bytes()))
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("Content-Encoding", "gzip")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	var first sync.WaitGroup
	first.Go(func() {
		if status := post(); status != 200 {
			t.Errorf("the first: status %d", status)
		}
	})
	for p.count() == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the first did not arrive")
		}
		time.Sleep(time.Millisecond)
	}
	if status := post(); status != 503 {
		t.Errorf("the second, while the first is held: status %d", status)
	}
	close(release)
	first.Wait()
	if status := post(); status != 200 {
		t.Errorf("the third, after it: status %d", status)
	}
}
