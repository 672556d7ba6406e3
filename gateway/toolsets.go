package gateway

import (
	"time"

	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/tools"
)

// The bounds of a call of a tool that the gateway runs.
const (
	toolTimeout = time.Minute
	toolBytes   = 1 << 20
)

// toolSets are the tools of each route, made when the configuration loads; nil if no
// route has any.
func toolSets(cfg *config.Config) func(*catalog.Route) *tools.Set {
	sets := map[*catalog.Route]*tools.Set{}
	for _, route := range cfg.Catalog.Routes() {
		if !route.Tools() {
			continue
		}
		var all []tools.Tool
		for _, name := range route.Builtin {
			if name == tools.TellUser {
				all = append(all, tools.NewTellUser())
			}
		}
		sets[route] = tools.NewSet(tools.Limits{Timeout: toolTimeout, Bytes: toolBytes}, all...)
	}
	if len(sets) == 0 {
		return nil
	}
	return func(route *catalog.Route) *tools.Set { return sets[route] }
}
