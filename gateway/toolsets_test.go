package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

// A tool has the time and the room that the settings give it.
func TestToolsHaveTheBoundsOfTheSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		run  func(ctx context.Context, call tools.Call) tools.Result
		want string
	}{
		"too slow": {func(ctx context.Context, _ tools.Call) tools.Result {
			<-ctx.Done()
			return tools.Failure("stopped")
		}, "has not answered within 50ms"},
		"too long": {func(context.Context, tools.Call) tools.Result {
			return tools.Result{Parts: []rewrite.Part{{Text: "begun " + strings.Repeat("x", 5000) + " ended"}}}
		}, "begun xx"},
	} {
		t.Run(name, func(t *testing.T) {
			core, base := everyProviderRouted(t, gateway.Options{Tools: []tools.Tool{slowTool(tc.run)}}, map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}}, func(cfg *config.Config) {
				cfg.Tools = tools.Limits{Bytes: 1 << 10, Timeout: 50 * time.Millisecond}
			})
			client := speakers[rewrite.Messages]
			c := says(`DO[call ask_user {}; then; say End.]`)
			c.Dialect, c.Model = rewrite.Messages, models[rewrite.Messages]
			reply, _ := client.ask(t, base, c)
			last := lastRecord(core).Body
			if !strings.Contains(last, tc.want) || strings.Contains(last, " ended") || strings.Count(last, "x") > 1<<10+100 || strings.Join(spoken(reply), "") != "End." {
				t.Errorf("the model is told %s, the client %q", last, spoken(reply))
			}
		})
	}
}
