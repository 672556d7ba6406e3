package relay

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"warmpath/cache/eventlog"
	"warmpath/cache/ledger"
	"warmpath/cache/lineage"
	"warmpath/cache/replies"
	"warmpath/cache/verdicts"
	"warmpath/gateway/catalog"
	"warmpath/gateway/prompt"
	"warmpath/gateway/tools"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

// ErrDraining is the cause of a request's context when the gateway stops and
// its patience is at an end.
var ErrDraining = errors.New("the gateway is stopping")

// Settings is what a reload may change.
type Settings struct {
	Catalog *catalog.Snapshot
	// Mode is the most that is done to keep prefixes warm; providers and requests
	// may ask for less. From ModeObserve on, bodies that are not JSON are refused
	// with the place of the fault; below, the provider judges.
	Mode rewrite.Mode
	// EarlyBetas sends the betas that edits may need along with every request of
	// a conversation: the set may be part of the cache's key. Otherwise they go
	// along from the first edit on, and a client that edits nothing is silent.
	EarlyBetas bool
	// Marks asks providers that can to mark the end of a prompt that goes on, for
	// clients that leave it unmarked and would never read it from the cache.
	Marks bool
	// Echoes keeps what clients send again with every request, and may then write
	// otherwise, to send it as it was first sent.
	Echoes bool
	// ColdWait is how long a request waits at most while another one with the same
	// cold prefix is on its way; zero never waits.
	ColdWait time.Duration
	// Diagnostics asks the provider why its cache missed.
	Diagnostics continuity.Asking
	// Context keeps a few bytes around what a request changes in its record, which
	// otherwise holds nothing of a prompt.
	Context bool
	// Replies keeps what clients of the Responses API go on from by name, where the
	// provider does not; nil keeps nothing.
	Replies *replies.Replies
	// Transcripts is the log of what is said in conversations; nil keeps none.
	Transcripts *eventlog.Log
	// Verdicts remembers what was withheld of tools' results and what was not; nil
	// decides each time.
	Verdicts *verdicts.Verdicts
	// Tools gives the tools that the gateway runs for a route; nil runs none. Ledger
	// keeps what clients are not told of their calls; nil keeps nothing.
	Tools  func(context.Context, *catalog.Route) *tools.Set
	Ledger *ledger.Ledger
	// Prompts knows whose prompts those of an agent are; nil knows nobody.
	Prompts *prompt.Book
	// Identify keeps the provider's own names for calls in their records.
	Identify bool
	// Traces keeps what a span of the request belongs to in its record.
	Traces bool
	// Retries is how often a request is sent again before it fails, at most.
	Retries int
	// Heartbeat is the silence after which a stream's client gets a frame that
	// its dialect ignores, none if zero; Silence is when the gateway gives the
	// provider up.
	Heartbeat, Silence time.Duration
	// DecodedBody bounds a compressed request once it is unpacked, in bytes.
	DecodedBody int64
}

// patience is how long to wait for a piece of reply before looking around.
func (s *Settings) patience() time.Duration {
	if s.Heartbeat > 0 && s.Heartbeat < s.Silence {
		return s.Heartbeat
	}
	return s.Silence
}

// Relay serves requests. It is safe for concurrent use.
type Relay struct {
	settings atomic.Pointer[Settings]
	client   *upstream.Client
	metrics  *metrics.Metrics
	memory   *lineage.Lineage
	recall   *anthropic.Recall
	refusals refusals
	disliked disliked
	foreign  foreign
	flights  flights
	trail    trail
	observe  func(*Record)
	// now is the time by which lifetimes in caches of providers are judged.
	now func() time.Time
}

// recallBytes bounds what is remembered of prompts that were read: enough for a
// hundred conversations of a megabyte.
const recallBytes = 16 << 20

// New makes a relay. Memory is where conversations are remembered; without one
// no prefix is kept warm. Observe is called once for every request that is over, with
// a record that it must not keep. Both may be nil.
func New(settings *Settings, client *upstream.Client, m *metrics.Metrics, memory *lineage.Lineage, observe func(*Record)) *Relay {
	if observe == nil {
		observe = func(*Record) {}
	}
	r := &Relay{client: client, metrics: m, memory: memory, recall: anthropic.NewRecall(recallBytes), observe: observe, now: time.Now}
	r.settings.Store(settings)
	return r
}

// Configure replaces the settings for requests that come from now on.
func (r *Relay) Configure(settings *Settings) { r.settings.Store(settings) }

// Serve answers a request. Ending ctx breaks the exchange with the provider
// off, also while the reply's body is being written; with ErrDraining as its
// cause the client is still told. The reply's Body, if any, must be closed.
func (r *Relay) Serve(ctx context.Context, req *Request) *Reply {
	x := newExchange(r, req.Dialect, req.Arrived)
	x.ctx, x.req, x.record.Operation = ctx, req, req.Operation
	if x.settings.Traces {
		x.record.Parent = string(req.Field("traceparent"))
	}
	if reply := x.serveKept(); reply != nil {
		return reply
	}
	failure := x.prepare()
	x.transcribe()
	if failure != nil {
		return x.fail(failure)
	}
	x.record.Overhead = time.Since(req.Arrived)
	if reply := x.answerEstimate(); reply != nil {
		return reply
	}
	resp, failure := x.reach()
	if failure != nil {
		return x.fail(failure)
	}
	if resp == nil { // the last target counts nothing
		return x.answerEstimate()
	}
	if resp.Status < 300 {
		x.count()
		x.consider()
		x.remember()
		x.keepSifted()
		x.scribe.directive(x.warmth)
		x.settle()
	}
	if x.translation != nil {
		return x.answerTranslated(resp)
	}
	reply := x.answer(resp)
	x.leave()
	return reply
}

// Refuse records a request that was turned away before it could be served and
// gives the reply that says why.
func (r *Relay) Refuse(d rewrite.Dialect, arrived time.Time, failure *rewrite.Failure) *Reply {
	return newExchange(r, d, arrived).fail(failure)
}
