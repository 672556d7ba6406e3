package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warmpath/gateway/config"
)

// BenchmarkConsole measures what it costs that somebody looks: 200 new conversations a
// second pass through the gateway in rounds with no page open and with eight, and the
// overview is loaded anew every second. Run it for one iteration:
//
//	go test ./gateway -run '^$' -bench Console -benchtime 1x
func BenchmarkConsole(b *testing.B) {
	const (
		rate, pages, rounds = 200, 8, 6
		round               = 4 * time.Second
	)
	g, base, _ := start(b, canned(b, streamAnswer(20)), func(c *config.Config) {
		c.Quiet = true
		c.Limits.BodiesInFlight = 256 << 20
	})
	admin := "http://" + g.AdminAddr()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	b.Cleanup(client.CloseIdleConnections)
	for b.Loop() {
		var took [2][]time.Duration // without pages and with them
		var overhead [2][]float64
		var loads []time.Duration
		parts, watched := 0, time.Duration(0)
		for i := range 2 * rounds {
			open := i % 2
			ctx, end := context.WithCancel(b.Context())
			var looking sync.WaitGroup
			var mu sync.Mutex
			for range pages * open {
				looking.Go(func() {
					n := follow(ctx, b, client, admin)
					mu.Lock()
					parts += n
					mu.Unlock()
				})
			}
			if open == 1 {
				watched += round
				looking.Go(func() {
					for ctx.Err() == nil {
						began := time.Now()
						fetchAll(b, client, admin+"/")
						loads = append(loads, time.Since(began))
						time.Sleep(time.Second)
					}
				})
			}
			sum, count := overheads(b, client, admin)
			took[open] = append(took[open], drive(b, client, base, rate, round)...)
			nowSum, nowCount := overheads(b, client, admin)
			overhead[open] = append(overhead[open], (nowSum-sum)/(nowCount-count)*1e6)
			end()
			looking.Wait()
		}
		report := func(name string, list []time.Duration, share float64) {
			slices.Sort(list)
			b.ReportMetric(list[int(share*float64(len(list)-1))].Seconds()*1e3, name)
		}
		report("p50-closed-ms", took[0], 0.5)
		report("p50-open-ms", took[1], 0.5)
		report("p95-closed-ms", took[0], 0.95)
		report("p95-open-ms", took[1], 0.95)
		report("page-p50-ms", loads, 0.5)
		report("page-p95-ms", loads, 0.95)
		for i, name := range []string{"overhead-closed-µs", "overhead-open-µs"} {
			slices.Sort(overhead[i])
			b.ReportMetric(overhead[i][len(overhead[i])/2], name)
		}
		b.ReportMetric(float64(parts)/pages/watched.Seconds(), "parts/page/s")
	}
	b.ReportMetric(0, "ns/op")
}

// drive begins so many conversations a second, each with one request, and tells how
// long each took.
func drive(b *testing.B, client *http.Client, base string, rate int, during time.Duration) (took []time.Duration) {
	var mu sync.Mutex
	var under sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	body := `{"model":"claude-opus-5-5","max_tokens":10,"messages":[{"role":"user","content":"` + strings.Repeat("words, ", 3000) + `"}],"stream":true}`
	for n := range int(during.Seconds() * float64(rate)) {
		<-tick.C
		under.Go(func() {
			began := time.Now()
			req, err := http.NewRequest(http.MethodPost, base+"/v1/messages", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("X-Api-Key", "k")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			req.Header.Set("Warmpath-Conversation", fmt.Sprintf("c%d-%d", began.UnixNano(), n))
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
				b.Errorf("status %d: %v", resp.StatusCode, err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began))
		})
	}
	under.Wait()
	return took
}

// follow looks at the overview until ctx ends, and counts the parts that it gets.
func follow(ctx context.Context, b *testing.B, client *http.Client, admin string) (parts int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, admin+"/live", nil)
	if err != nil {
		b.Error(err)
		return 0
	}
	resp, err := client.Do(req)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer resp.Body.Close()
	lines := bufio.NewReaderSize(resp.Body, 1<<20)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return parts
		}
		if strings.HasPrefix(string(line), "event: part") {
			parts++
		}
	}
}

var overheadLines = regexp.MustCompile(`(?m)^warmpath_overhead_seconds_(sum|count)\{[^}]*\} (\S+)$`)

// overheads are the gateway's own figures of the time that it took itself, in seconds,
// and of how many requests.
func overheads(b *testing.B, client *http.Client, admin string) (sum, count float64) {
	for _, m := range overheadLines.FindAllStringSubmatch(fetchAll(b, client, admin+"/metrics"), -1) {
		value, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			b.Fatal(err)
		}
		if m[1] == "sum" {
			sum += value
		} else {
			count += value
		}
	}
	return sum, count
}

func fetchAll(b *testing.B, client *http.Client, address string) string {
	resp, err := client.Get(address)
	if err != nil {
		b.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Errorf("%s: status %d: %v", address, resp.StatusCode, err)
	}
	return string(text)
}
