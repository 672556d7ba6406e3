package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/rewrite"
)

// A client that leaves in the midst of a later call ends it: before the provider answers,
// and while it does.
func TestClientsThatLeaveInALaterCall(t *testing.T) {
	for from, client := range speakers {
		for name, tc := range map[string]struct {
			script, until string
			stream        bool
		}{
			"before it answers": {"first 60s; say Three.", "Two.", true},
			"while it answers":  {"slow 50ms; text 4000 events=2000", "Two.", true},
			"a whole reply":     {"first 60s; say Three.", "", false},
		} {
			t.Run(fmt.Sprintf("WT-04 %s, %s", from, name), func(t *testing.T) {
				g, core, base := everyProviderOf(t, gateway.Options{}, map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}}, keepsReplies)
				c := says(`DO[say One.; call tell_user {"message":"Two."}; then; ` + tc.script + `]`)
				c.Dialect, c.Model, c.Stream = from, models[rewrite.Messages], tc.stream
				body, err := client.encode(c, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				req, err := http.NewRequestWithContext(ctx, "POST", base+client.path(c.Model, c.Stream), bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set(client.key, map[bool]string{true: "Bearer "}[client.key == "Authorization"]+"sk-client")
				req.Header.Set("Anthropic-Version", "2023-06-01")
				left := make(chan struct{})
				go func() {
					defer close(left)
					resp, err := http.DefaultClient.Do(req)
					if err != nil {
						return // it has left
					}
					defer resp.Body.Close()
					var got []byte
					for buf := make([]byte, 4096); !strings.Contains(string(got), tc.until); {
						n, err := resp.Body.Read(buf)
						if got = append(got, buf[:n]...); err != nil {
							t.Errorf("%v after %s", err, got)
							return
						}
					}
					<-ctx.Done()
				}()
				page := func() string {
					_, page := admin(t, g, "/metrics")
					return string(page)
				}
				// Calls are in the log once they are being answered.
				eventually(t, func() bool {
					return strings.Contains(page(), "warmpath_tool_rounds_total 1\n") && len(core.Log.All()) >= 1
				}, page)
				leave()
				<-left
				eventually(t, func() bool {
					now := page()
					return strings.Contains(now, "warmpath_inflight 0\n") && strings.Contains(now, "warmpath_streams_open 0\n") &&
						strings.Contains(now, `reason="client_gone",status="4xx"} 1`)
				}, func() string {
					var lines []string
					for line := range strings.Lines(page()) {
						if strings.HasPrefix(line, "warmpath_requests_total") && !strings.HasSuffix(line, " 0\n") || strings.HasPrefix(line, "warmpath_inflight") || strings.HasPrefix(line, "warmpath_streams") {
							lines = append(lines, line)
						}
					}
					return strings.Join(lines, "")
				})
			})
		}
	}
}
