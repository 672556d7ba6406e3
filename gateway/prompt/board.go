package prompt

import (
	"context"
	"time"
)

// Board is what several gateways share, so that each shows the prompts of all and
// takes their answers. What is pinned to it stays for a time; calls may get lost.
// Every method may fail, and is then counted: prompts go on within their gateway.
type Board interface {
	// Pin puts a value under a kind and a name for a time, or takes it down if the time
	// is not positive. With once it does so only if nothing is there, and reports
	// whether it was first.
	Pin(ctx context.Context, kind, name string, value []byte, life time.Duration, once bool) (first bool, err error)
	// Pinned are the values of a kind by their names.
	Pinned(ctx context.Context, kind string) (map[string][]byte, error)
	// Call tells all who listen to look at the board.
	Call(ctx context.Context) error
	// Listen gives a signal for each call that is heard until ctx ends, which closes
	// the channel.
	Listen(ctx context.Context) <-chan struct{}
}

// BoardOps are what a board is asked to do, for metric labels.
var BoardOps = []string{"pin", "read", "call"}

// The kinds of what is pinned.
const (
	kindPrompt = "prompt"
	kindAnswer = "answer"
	kindLease  = "lease"
)

const (
	// leaseLife is how long a lease or a prompt is believed in without being renewed,
	// renewal how often that is done for leases, and idle how often the board is read
	// where nothing is open.
	leaseLife = 12 * time.Second
	renewal   = time.Second
	idle      = 4 * time.Second
	// recordMargin is how long a prompt is pinned beyond its expiry at most, and
	// answerLife how long an answer is for its gateway to find.
	recordMargin = 10 * time.Second
	answerLife   = 2 * time.Minute
	// boardTime bounds one operation of the board while somebody waits for it.
	boardTime = 2 * time.Second
)

// notice is something to pin.
type notice struct {
	kind, name string
	value      []byte
	life       time.Duration
}

func noticePrompt(r *record, life time.Duration) func() notice {
	return func() notice { return notice{kindPrompt, r.ID, r.encode(), life} }
}

func noticeLease(l *Lease, life time.Duration) func() notice {
	return func() notice { return notice{kindLease, l.id, l.presence(), life} }
}
