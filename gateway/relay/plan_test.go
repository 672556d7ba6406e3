package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/gateway/catalog"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/splice"
)

// longWork is a request in the middle of long work: a hundred tools, of which
// the first few are gone, and many turns that read files.
func longWork(messages, gone int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-opus-5-5","max_tokens":32000,"stream":true,"tools":[`)
	for i := gone; i < 100; i++ {
		if i > gone {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Reads a file from disk and returns its lines with numbers. Use it before \"edit\".",`+
			`"input_schema":{"type":"object","properties":{"path":{"type":"string","description":"An absolute path"},`+
			`"limit":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}}`, i)
	}
	prose := `The relay reads one chunk, hands it to the splitter and writes it on. Nothing is decoded twice, and what nobody asked ` +
		`to change stays.\n\nfunc main() {\n\tfmt.Println(\"hello, world\")\n}\n`
	fmt.Fprintf(&b, `],"system":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],"messages":[`, strings.Repeat(prose, 60))
	for i := range messages / 2 {
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01A09q90qw90lq%06d","content":"%s"}]},`+
			`{"role":"assistant","content":[{"type":"text","text":"I will read it."},{"type":"tool_use","id":"toolu_01A09q90qw90lq%06d",`+
			`"name":"tool_50","input":{"path":"/src/relay/file_%d.go","limit":200}}]},`, i, strings.Repeat(prose, 1+i%30), i+1, i)
	}
	fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01A09q90qw90lq%06d","content":"%s",`+
		`"cache_control":{"type":"ephemeral"}}]}]}`, messages/2, strings.Repeat(prose, 1+messages/2%30))
	return b.Bytes()
}

// planning is a relay that sends nothing.
func planning(b testing.TB) (*Relay, *forgetful) {
	b.Helper()
	store := &forgetful{Store: cache.NewGuard(cache.NewMemory(64<<20), cache.GuardOptions{})}
	return planningWith(b, store), store
}

// planningWith is another process beside the same store.
func planningWith(b testing.TB, store *forgetful) *Relay {
	b.Helper()
	snapshot, problems := catalog.Build(catalog.Settings{Addresses: map[string]string{"anthropic": "http://127.0.0.1:1"}})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	m := metrics.New(metrics.NewRegistry(), snapshot.Providers(), snapshot.Models())
	return New(&Settings{Catalog: snapshot, Mode: rewrite.ModeOn, EarlyBetas: true, Marks: true, DecodedBody: 1 << 30}, nil, m,
		lineage.New(store, time.Hour), nil)
}

// forgetful is a store that can be told to keep no more conversations.
type forgetful struct {
	cache.Store
	full  bool
	keys  int
	reads int
}

func (f *forgetful) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	f.keys, f.reads = f.keys+len(keys), f.reads+1
	return f.Store.GetMany(ctx, keys...)
}

func (f *forgetful) CompareAndSwap(ctx context.Context, old []byte, entry cache.Entry) (bool, error) {
	if f.full {
		return true, nil
	}
	return f.Store.CompareAndSwap(ctx, old, entry)
}

// plan does with a request what is done before it goes out, and remembers it.
func plan(b testing.TB, r *Relay, body []byte) *exchange {
	b.Helper()
	x := newExchange(r, rewrite.Messages, time.Now())
	x.ctx = b.Context()
	x.req = &Request{Dialect: rewrite.Messages, Operation: OpGenerate, Method: http.MethodPost, Path: []byte("/v1/messages"), Body: body,
		Fields: []upstream.Field{{Name: []byte("warmpath-conversation"), Value: []byte("long work")}}}
	if failure := x.prepare(); failure != nil {
		b.Fatal(failure)
	}
	if x.warmth == nil || x.warmth.blind {
		b.Fatal("the request is not planned")
	}
	x.remember()
	x.notes.save()
	return x
}

// BenchmarkPlan plans, edits and remembers the next turn of long work, in which
// the newest turn came, the mark moved on and ten tools or none went. The multiple is
// that of one check of the same bytes, and the aim is three. Cold is a process
// that has not read the conversation before.
func BenchmarkPlan(b *testing.B) {
	for _, bench := range []struct {
		name       string
		size, gone int
		cold       bool
	}{
		{"1MB", 560, 10, false}, {"1MB, unchanged", 560, 0, false}, {"1MB, cold", 560, 10, true},
		{"200KB", 110, 10, false}, {"200KB, unchanged", 110, 0, false},
	} {
		size := bench.size
		before, now := longWork(size-2, 0), longWork(size, bench.gone)
		b.Run(fmt.Sprintf("%s of %dKB", bench.name, len(now)>>10), func(b *testing.B) {
			r, store := planning(b)
			x := plan(b, r, before)
			head, sent := x.warmth.heads[len(x.warmth.heads)-1], x.warmth.plan.Next.Sent
			if err := r.memory.SaveSealed(b.Context(), x.warmth.plan.Next, lineage.Seal(head, sent, fmt.Sprintf("toolu_01A09q90qw90lq%06d", size/2))); err != nil {
				b.Fatal(err)
			}
			store.full = true
			b.ReportAllocs()
			var times, bases []time.Duration
			for b.Loop() {
				begin := time.Now()
				x := plan(b, r, now)
				times = append(times, time.Since(begin))
				b.StopTimer()
				if said := bench.gone > 0; (x.warmth.plan.Tools != nil) != said || (len(x.warmth.plan.Inserts) == 1) != said || x.warmth.plan.Epoch != "" {
					b.Fatalf("%d inserts, epoch %q", len(x.warmth.plan.Inserts), x.warmth.plan.Epoch)
				}
				x.handedOver()
				if bench.cold {
					r.recall = anthropic.NewRecall(recallBytes)
				}
				begin = time.Now()
				if err := splice.Valid(now); err != nil {
					b.Fatal(errors.New(err.Msg))
				}
				bases = append(bases, time.Since(begin))
				b.StartTimer()
			}
			slices.Sort(times)
			slices.Sort(bases)
			b.ReportMetric(float64(times[len(times)/2])/float64(bases[len(bases)/2]), "x-validation")
		})
	}
}

// A long conversation takes hardly more allocations than a short one: they are
// bounded by what the plan changes and not by what it leaves alone.
func TestPlanAllocates(t *testing.T) {
	count := func(size int) float64 {
		before, now := longWork(size-2, 0), longWork(size, 0)
		r, store := planning(t)
		plan(t, r, before).handedOver()
		store.full = true
		return testing.AllocsPerRun(20, func() { plan(t, r, now).handedOver() })
	}
	// Both have the same tools, of which each takes a few.
	if short, long := count(110), count(1100); long > short+200 {
		t.Errorf("%v allocations for 1101 messages, and %v for 111", long, short)
	} else {
		t.Logf("%v allocations for 1101 messages, and %v for 111", long, short)
	}
}

// The next turn asks the store once, also where the client no longer has what
// goes out; a process that does not know the conversation fetches that, and what
// states share.
func TestATurnAsksTheStoreOnce(t *testing.T) {
	const size = 110
	before, now := longWork(size-2, 0), longWork(size, 10)
	r, store := planning(t)
	x := plan(t, r, before)
	head, sent := x.warmth.heads[len(x.warmth.heads)-1], x.warmth.plan.Next.Sent
	if err := r.memory.SaveSealed(t.Context(), x.warmth.plan.Next, lineage.Seal(head, sent, fmt.Sprintf("toolu_01A09q90qw90lq%06d", size/2))); err != nil {
		t.Fatal(err)
	}
	store.full = true
	for name, test := range map[string]struct {
		r           *Relay
		reads, keys int // at most
	}{"here": {r, 1, 16}, "elsewhere": {planningWith(t, store), 4, 300}} {
		store.reads, store.keys = 0, 0
		x := plan(t, test.r, now)
		if len(x.warmth.plan.Inserts) != 1 || x.warmth.plan.Epoch != "" {
			t.Errorf("%s: %d inserts, epoch %q", name, len(x.warmth.plan.Inserts), x.warmth.plan.Epoch)
		}
		if store.reads > test.reads || store.keys > test.keys {
			t.Errorf("%s: %d reads of %d keys, want at most %d of %d", name, store.reads, store.keys, test.reads, test.keys)
		}
		t.Logf("%s: %d reads of %d keys", name, store.reads, store.keys)
	}
}
