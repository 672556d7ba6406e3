package mcp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"warmpath/gateway/tools"
)

// How long a server is left alone after it has failed: the first time, and at most.
// One that has lived long is started again at once.
const (
	firstPause, longestPause = time.Second, time.Minute
	longLife                 = 30 * time.Second
	// settling is how long a list has to stay the same before it is read again.
	settling = 100 * time.Millisecond
)

// State is what a server is doing.
type State string

// The states, a closed set.
const (
	Connecting State = "connecting"
	Up         State = "up"
	Down       State = "down"
	// Gone is a server that the configuration no longer has.
	Gone State = "gone"
)

// server is a configured server, whether or not there is a connection to it.
type server struct {
	// given is the configuration as it was given, and config with what it left open.
	given, config Config
	owner         *Servers
	said          *said
	tokens        atomic.Uint64
	// handshakes says that the server knows only old versions of the protocol. It is
	// the loop's own.
	handshakes bool

	stop context.CancelFunc
	// awaited is until when requests wait for the first list.
	awaited time.Time
	done    sync.WaitGroup
	kick    chan struct{}

	mu      sync.Mutex
	session *session
	state   State
	since   time.Time
	// cause is why the server is down.
	cause string
	// ended counts attempts that are over, failed or not.
	ended int
	// tools are those of the last list, which stay while the server is away: what a
	// model is offered does not change with the weather.
	tools []offered
	// news is closed and replaced when any of this changes.
	news chan struct{}
}

func newServer(config Config, owner *Servers) *server {
	s := &server{
		given: config, config: config, owner: owner, kick: make(chan struct{}, 1), news: make(chan struct{}), state: Connecting, since: time.Now(),
		said: &said{log: owner.Log.With("server", config.Name), secrets: config.secrets()},
	}
	if s.config.Timeout <= 0 {
		s.config.Timeout = DefaultTimeout
	}
	if s.config.Connect <= 0 {
		s.config.Connect = DefaultConnect
	}
	s.tell(Connecting)
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.awaited = time.Now().Add(owner.FirstList)
	s.done.Go(func() { s.loop(ctx) })
	return s
}

// change changes what others see of the server, and wakes who waits for that.
func (s *server) change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
	close(s.news)
	s.news = make(chan struct{})
}

// loop keeps a connection until ctx ends.
func (s *server) loop(ctx context.Context) {
	pause := time.Duration(0)
	for ctx.Err() == nil {
		s.change(func() { s.become(Connecting, "") })
		began := time.Now()
		c, err := s.attempt(ctx)
		if err != nil {
			s.change(func() { s.ended++ })
		} else {
			err = s.attend(ctx, c)
			s.leave(c)
			s.done.Go(c.close)
		}
		if time.Since(began) >= longLife && err != nil {
			pause = 0
		}
		if ctx.Err() != nil {
			break
		}
		s.fail(err)
		s.rest(ctx, pause)
		pause = min(max(2*pause, firstPause), longestPause)
	}
	s.change(func() { s.become(Gone, "") })
}

// become changes the state.
func (s *server) become(state State, cause string) {
	if s.state != state {
		s.since = time.Now()
		s.tell(state)
	}
	s.state, s.cause = state, cause
}

func (s *server) tell(state State) {
	if s.owner.Watch != nil {
		s.owner.Watch(s.config.Name, state)
	}
}

// offer enters a list of tools.
func (s *server) offer(list []offered) {
	s.tools = list
	s.owner.lists.Add(1)
}

// attempt connects once and reads the list of tools.
func (s *server) attempt(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Connect)
	defer cancel()
	c, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := c.list(ctx, &s.config)
	if err != nil {
		c.close()
		return nil, err
	}
	s.owner.Log.Info("an MCP server is up", "server", s.config.Name, "tools", len(list), "protocol", c.client.InitializeResult().ProtocolVersion)
	s.change(func() {
		s.become(Up, "")
		s.session, s.ended = c, s.ended+1
		s.offer(list)
	})
	return c, nil
}

// attend reads the list again whenever it changes, until the connection is over.
func (s *server) attend(ctx context.Context, c *session) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // it is not looked at
		case <-c.ended:
			return errEnded
		case <-c.broken:
			return errUnreachable
		case <-c.changed:
		}
		select { // servers change one tool after the other
		case <-time.After(settling):
		case <-ctx.Done():
			continue
		}
		select {
		case <-c.changed:
		default:
		}
		listing, cancel := context.WithTimeout(ctx, s.config.Connect)
		list, err := c.list(listing, &s.config)
		cancel()
		if err != nil {
			s.owner.Log.Warn("the new list of an MCP server's tools could not be read, the old one stays", "server", s.config.Name, "cause", s.said.clean(bare(err).Error(), longestLine))
			continue
		}
		s.change(func() { s.offer(list) })
	}
}

var (
	// errEnded is of a connection that the server has ended, and errStart of one
	// whose program cannot be started.
	errEnded = errors.New("the connection was ended")
	errStart = errors.New("starting its program")
)

// fail enters that there is no connection, and says why if that is new.
func (s *server) fail(err error) {
	cause := reason(err)
	s.mu.Lock()
	news := s.cause != cause || s.state != Down
	s.mu.Unlock()
	if news {
		s.owner.Log.Warn("an MCP server is down", "server", s.config.Name, "reason", cause, "cause", s.said.clean(bare(err).Error(), longestLine))
	}
	s.change(func() { s.become(Down, cause) })
}

// reason is one of few words for why there is no connection.
func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, errUnreachable):
		return "not reachable"
	case errors.Is(err, errEnded), errors.Is(err, protocol.ErrConnectionClosed):
		return "connection ended"
	case errors.Is(err, errStart):
		return "program not started"
	}
	return "refused"
}

// rest waits before the next attempt. A call that needs the server ends it early, but
// not so that attempts follow each other without any pause.
func (s *server) rest(ctx context.Context, pause time.Duration) {
	select {
	case <-s.kick: // of a call before
	default:
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(min(pause, firstPause)):
	}
	select {
	case <-ctx.Done():
	case <-s.kick:
	case <-time.After(pause - min(pause, firstPause)):
	}
}

// leave takes a connection out of use.
func (s *server) leave(c *session) {
	s.change(func() {
		if s.session == c {
			s.session = nil
		}
	})
}

// ready gives the connection. Where there is none it waits for the next attempt, and
// not longer than one may take.
func (s *server) ready(ctx context.Context) (*session, error) {
	bound := time.NewTimer(s.config.Connect)
	defer bound.Stop()
	for before := -1; ; {
		s.mu.Lock()
		c, ended, news := s.session, s.ended, s.news
		s.mu.Unlock()
		switch {
		case c != nil:
			return c, nil
		case before < 0:
			before = ended
			wake(s.kick)
		case ended > before:
			return nil, errUnavailable
		}
		select {
		case <-news:
		case <-bound.C:
			return nil, errUnavailable
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // the cause says more
		}
	}
}

// tried waits until the first attempt is over, or ctx is, or it has taken too long.
func (s *server) tried(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, s.awaited)
	defer cancel()
	for {
		s.mu.Lock()
		ended, news := s.ended, s.news
		s.mu.Unlock()
		if ended > 0 {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// offers are the server's tools as the gateway runs them.
func (s *server) offers() []tools.Tool {
	s.mu.Lock()
	list := s.tools
	s.mu.Unlock()
	all := make([]tools.Tool, len(list))
	for i := range list {
		own := list[i].name
		all[i] = tools.Tool{
			Name: list[i].definition.Name, Source: tools.SourceMCP, Definition: list[i].definition,
			Timeout: -1, // a call has a clock of its own, which stands still while people are asked
			Run:     func(ctx context.Context, call tools.Call) tools.Result { return s.run(ctx, own, call) },
		}
	}
	slices.SortFunc(all, func(a, b tools.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// end stops the server and waits until nothing of it is left.
func (s *server) end() {
	s.stop()
	s.done.Wait()
}
