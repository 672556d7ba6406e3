package gateway

import (
	"context"
	"slices"
	"sync"

	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/tools"
	"warmpath/gateway/tools/mcp"
)

// toolSets are the tools of each route; nil if no route has any. Those of servers are
// asked for when they are needed, and again when a server has another list.
func (g *Gateway) toolSets(cfg *config.Config) func(context.Context, *catalog.Route) *tools.Set {
	sets := map[*catalog.Route]*routeTools{}
	for _, route := range cfg.Catalog.Routes() {
		if !route.Tools() {
			continue
		}
		own := &routeTools{gateway: g, servers: route.MCP, limits: cfg.Tools}
		for _, name := range route.Builtin {
			if tool := g.builtin(name); tool != nil {
				own.builtin = append(own.builtin, *tool)
			}
		}
		sets[route] = own
	}
	if len(sets) == 0 {
		return nil
	}
	return func(ctx context.Context, route *catalog.Route) *tools.Set {
		if own := sets[route]; own != nil {
			return own.set(ctx)
		}
		return nil
	}
}

// builtin is a tool of the gateway's own by its name; nil for none.
func (g *Gateway) builtin(name string) *tools.Tool {
	if at := slices.IndexFunc(g.tools, func(t tools.Tool) bool { return t.Name == name }); at >= 0 {
		return &g.tools[at]
	}
	var tool tools.Tool
	switch name {
	case tools.TellUser:
		tool = tools.NewTellUser()
	case tools.AskUser:
		tool = tools.NewAskUser(g.prompts)
	default:
		return nil
	}
	return &tool
}

// routeTools are the tools of one route.
type routeTools struct {
	gateway *Gateway
	builtin []tools.Tool
	servers []string
	limits  tools.Limits

	mu   sync.Mutex
	made *tools.Set
	// lists is how many lists of servers there were when the set was made.
	lists uint64
}

// set gives the tools as they are now. It waits for servers that have just been
// started, but not for long.
func (r *routeTools) set(ctx context.Context) *tools.Set {
	lists := r.gateway.servers.Lists()
	r.mu.Lock()
	made := r.made
	if r.lists != lists && len(r.servers) > 0 {
		made = nil
	}
	r.mu.Unlock()
	if made != nil {
		return made
	}
	all := append([]tools.Tool(nil), r.builtin...)
	for _, tool := range r.gateway.servers.Tools(ctx, r.servers) {
		all = append(all, tools.Admit(r.gateway.prompts, r.limits, tool))
	}
	owned := make([]string, len(r.servers))
	for i, server := range r.servers {
		owned[i] = mcp.PrefixOf(server)
	}
	made = tools.NewSet(r.limits, all...).Owning(owned...)
	r.mu.Lock()
	r.made, r.lists = made, lists
	r.mu.Unlock()
	return made
}
