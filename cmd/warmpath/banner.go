package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"warmpath/cache/redis"
	"warmpath/gateway/config"
)

// printBanner says where the gateway is and what agents need to find it. The
// addresses are those it really got, which differ where port 0 was asked for.
func printBanner(to io.Writer, cfg *config.Config, clients, admin string) {
	base := "http://" + reachable(clients)
	var b strings.Builder
	fmt.Fprintf(&b, "warmpath %s\n\n", version())
	fmt.Fprintf(&b, "  clients  %s\n", base)
	fmt.Fprintf(&b, "  admin    http://%s\n", reachable(admin))
	fmt.Fprintf(&b, "  mode     %s\n", cfg.Mode)
	if cfg.Store.IsZero() {
		fmt.Fprintf(&b, "  data     %s\n\n", cfg.Data)
	} else {
		fmt.Fprintf(&b, "  store    %s\n\n", redis.Address(cfg.Store.Reveal()))
	}
	b.WriteString("To send an agent through it, set in the agent's environment:\n\n")
	for _, line := range exports(base) {
		b.WriteString("  " + line + "\n")
	}
	if len(cfg.AccessKeys) > 0 {
		b.WriteString("\nClients must present one of the access keys where they would present a provider's key.\n")
	}
	b.WriteString("\n")
	_, _ = io.WriteString(to, b.String())
}

// exports are the variables that agents read their base URL from.
func exports(base string) []string {
	return []string{
		"export ANTHROPIC_BASE_URL=" + base,
		"export OPENAI_BASE_URL=" + base + "/v1",
		"export GOOGLE_GEMINI_BASE_URL=" + base,
	}
}

// reachable is an address that can be connected to from this machine: one that
// listens on every interface is reached by loopback.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "", err == nil && ip.IsUnspecified():
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
