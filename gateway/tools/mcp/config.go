package mcp

import (
	"maps"
	"slices"
	"strings"
	"time"

	"warmpath/gateway/secret"
)

// Config is how a server is reached, and what is taken of it: either Command or URL
// is set.
type Config struct {
	Name string
	// Command is started with Args, with Env added to the few variables of the
	// environment that it gets, and spoken to on its standard input and output.
	Command string
	Args    []string
	Env     map[string]secret.String
	// URL is an endpoint of streamable HTTP, and Headers what each request to it has
	// besides. Both may hold keys.
	URL     secret.String
	Headers map[string]secret.String
	// Tools are the tools that are taken, by the server's own names; a * at the end
	// is any rest. An empty list takes all.
	Tools []string
	// Timeout bounds a call, without the time that people take to answer; Connect
	// bounds the start of a server with its list of tools, and how long a request
	// waits for that.
	Timeout, Connect time.Duration
}

// The bounds of a server that has none of its own.
const (
	DefaultTimeout = time.Minute
	DefaultConnect = 10 * time.Second
)

// equal reports whether a running server may go on under another configuration.
func (c *Config) equal(other *Config) bool {
	return c.Name == other.Name && c.Command == other.Command && slices.Equal(c.Args, other.Args) && maps.Equal(c.Env, other.Env) &&
		c.URL == other.URL && maps.Equal(c.Headers, other.Headers) && slices.Equal(c.Tools, other.Tools) &&
		c.Timeout == other.Timeout && c.Connect == other.Connect
}

// takes reports whether a tool is on the list.
func (c *Config) takes(tool string) bool {
	return len(c.Tools) == 0 || slices.ContainsFunc(c.Tools, func(pattern string) bool {
		begin, open := strings.CutSuffix(pattern, "*")
		return pattern == tool || open && strings.HasPrefix(tool, begin)
	})
}

// secrets are the values that no log may have.
func (c *Config) secrets() (values []string) {
	const shortest = 4 // shorter ones are words of any text
	for _, of := range []map[string]secret.String{c.Env, c.Headers} {
		for _, value := range of {
			if text := value.Reveal(); len(text) >= shortest {
				values = append(values, text)
			}
		}
	}
	if text := c.URL.Reveal(); text != "" {
		values = append(values, text)
	}
	// The longest first, so that no rest of one is left by another.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return values
}
