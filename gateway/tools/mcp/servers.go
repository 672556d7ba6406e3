package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
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
	// FirstList is how long after a server was configured it is waited for at most;
	// DefaultFirstList if zero.
	FirstList time.Duration
	// Watch is told what each server is doing whenever that changes. It must not
	// block, and may be nil.
	Watch func(server string, state State)
}

// Servers are the configured servers. They are started by Configure, in the
// background: a server that is down holds up nothing but its own tools. All methods
// may be called at the same time.
type Servers struct {
	Options

	mu      sync.Mutex
	servers []*server // in the order of their names
	stopped bool
	// ending are the servers that are on their way out.
	ending sync.WaitGroup
	// lists counts the lists of tools that were new.
	lists atomic.Uint64
}

// DefaultFirstList is what a program needs to start that has to be found first, and no
// longer than people wait for an answer without a thought. Who is later is on offer for
// the conversations that begin then: those before keep the list that they began with.
const DefaultFirstList = 3 * time.Second

// New makes a set without servers.
func New(options Options) *Servers {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.FirstList <= 0 {
		options.FirstList = DefaultFirstList
	}
	return &Servers{Options: options}
}

// Configure starts the servers that are new, stops those that are gone, and leaves
// alone those that are as they were. It waits for neither.
func (s *Servers) Configure(configs []Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	var next []*server
	for _, config := range configs {
		i := slices.IndexFunc(s.servers, func(running *server) bool { return running.given.equal(&config) })
		if i >= 0 {
			next = append(next, s.servers[i])
		}
	}
	for _, running := range s.servers {
		if !slices.Contains(next, running) {
			s.ending.Go(running.end)
		}
	}
	for _, config := range configs {
		if !slices.ContainsFunc(next, func(running *server) bool { return running.given.Name == config.Name }) {
			next = append(next, newServer(config, s))
		}
	}
	slices.SortFunc(next, func(a, b *server) int { return cmp.Compare(a.config.Name, b.config.Name) })
	s.servers = next
	s.lists.Add(1)
}

// Stop stops all servers and waits until nothing of them is left.
func (s *Servers) Stop() {
	s.mu.Lock()
	for _, running := range s.servers {
		s.ending.Go(running.end)
	}
	s.servers, s.stopped = nil, true
	s.mu.Unlock()
	s.ending.Wait()
}

// Lists counts the lists of tools so far: while it is the same, Tools gives the same.
func (s *Servers) Lists() uint64 { return s.lists.Load() }

// Tools are the tools of servers, by the servers' names, in the order of server and
// tool. A server that has just been configured is waited for, but neither longer than
// FirstList after that nor than ctx lasts; of one that is away, the tools that it had
// are given. Names of no server have no tools.
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
