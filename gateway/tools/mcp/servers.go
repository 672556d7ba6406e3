package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"warmpath/gateway/tools"
)

// Options is what servers get besides their configuration.
type Options struct {
	// Log takes what servers say and what becomes of them; nil discards it.
	Log *slog.Logger
	// Version is what servers are told of the gateway's.
	Version string
	// Ask has people answer what servers ask for; nil asks nobody.
	Ask Ask
	// Observe is told of each call that is over: its server, one of Outcomes, and
	// how long it has taken. It may be nil.
	Observe func(server, outcome string, took time.Duration)
}

// Servers are the configured servers. They are started by Configure, in the
// background: a server that is down holds up nothing but its own tools. All methods
// may be called at the same time.
type Servers struct {
	Options

	mu      sync.Mutex
	servers []*server // in the order of their names
	stopped bool
}

// New makes a set without servers.
func New(options Options) *Servers {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Servers{Options: options}
}

// Configure starts the servers that are new, stops those that are gone, and leaves
// alone those that are as they were. It waits for the ends of those that it stops,
// and for the beginning of none.
func (s *Servers) Configure(configs []Config) {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return
	}
	var next, over []*server
	for _, config := range configs {
		i := slices.IndexFunc(s.servers, func(running *server) bool { return running.given.equal(&config) })
		if i >= 0 {
			next = append(next, s.servers[i])
		}
	}
	for _, running := range s.servers {
		if !slices.Contains(next, running) {
			over = append(over, running)
		}
	}
	for _, config := range configs {
		if !slices.ContainsFunc(next, func(running *server) bool { return running.given.Name == config.Name }) {
			next = append(next, newServer(config, s))
		}
	}
	slices.SortFunc(next, func(a, b *server) int { return cmp.Compare(a.config.Name, b.config.Name) })
	s.servers = next
	s.mu.Unlock()
	end(over)
}

// Stop stops all servers and waits until nothing of them is left.
func (s *Servers) Stop() {
	s.mu.Lock()
	over := s.servers
	s.servers, s.stopped = nil, true
	s.mu.Unlock()
	end(over)
}

// end stops servers side by side.
func end(over []*server) {
	var all sync.WaitGroup
	for _, running := range over {
		all.Go(running.end)
	}
	all.Wait()
}

// Tools are the tools of servers, by the servers' names, in the order of server and
// tool. A server that has just been configured is waited for, within the bound of its
// start or until ctx ends; of one that is away, the tools that it had are given.
// Names of no server have no tools.
func (s *Servers) Tools(ctx context.Context, names []string) (all []tools.Tool) {
	s.mu.Lock()
	servers := s.servers
	s.mu.Unlock()
	for _, server := range servers {
		if slices.Contains(names, server.config.Name) {
			server.tried(ctx)
			all = append(all, server.offers()...)
		}
	}
	return all
}

// Status is what is known of a server.
type Status struct {
	Name  string
	State State
	// Since is when it has become so, and Reason why it is down, in few words.
	Since  time.Time
	Reason string
	// Protocol is the version that is spoken, and Tools how many tools the server
	// offers, or has offered last.
	Protocol string
	Tools    int
}

// Status is what is known of all servers, in the order of their names.
func (s *Servers) Status() []Status {
	s.mu.Lock()
	servers := s.servers
	s.mu.Unlock()
	all := make([]Status, len(servers))
	for i, server := range servers {
		all[i] = server.status()
	}
	return all
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Name: s.config.Name, State: s.state, Since: s.since, Reason: s.cause, Tools: len(s.tools)}
	if s.session != nil {
		status.Protocol = s.session.client.InitializeResult().ProtocolVersion
	}
	return status
}
