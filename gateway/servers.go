package gateway

import (
	"context"
	"time"

	"warmpath/gateway/console"
	"warmpath/gateway/question"
	"warmpath/gateway/tools"
	"warmpath/gateway/tools/mcp"
	"warmpath/rewrite"
)

// newServers makes the servers of tools, none of which is started before the gateway
// is. FirstList is how long requests wait for them.
func (g *Gateway) newServers(firstList time.Duration) *mcp.Servers {
	return mcp.New(mcp.Options{
		Log: g.log, Version: g.version, Observe: g.metrics.ServerCalled, FirstList: firstList,
		Ask: func(ctx context.Context, asked mcp.Asked) (question.Outcome, rewrite.JSON) {
			return tools.AskFor(ctx, g.prompts, asked.Call, tools.SourceMCP, asked.Message, asked.Questions)
		},
		Watch: func(server string, state mcp.State) {
			if state == mcp.Gone {
				g.metrics.ServerGone(server)
				return
			}
			g.metrics.ServerUp(server, state == mcp.Up)
		},
	})
}

// shownServers are the servers of tools as the console shows them.
func shownServers(servers *mcp.Servers) []console.ToolServer {
	all := []console.ToolServer{}
	for _, s := range servers.Status() {
		all = append(all, console.ToolServer{
			Name: s.Name, State: string(s.State), Since: s.Since, Reason: s.Reason, Protocol: s.Protocol, Tools: s.Tools,
		})
	}
	return all
}
