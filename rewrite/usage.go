package rewrite

// Count is a number of tokens that a provider may or may not have reported.
// The zero Count is unknown, which is not the same as a reported zero.
type Count struct {
	N     int64
	Known bool
}

// Tokens is a reported Count; negative numbers are clamped to zero.
func Tokens(n int64) Count {
	return Count{N: max(n, 0), Known: true}
}

// Plus adds two counts; the sum is known if either is.
func (c Count) Plus(other Count) Count {
	return Count{N: c.N + other.N, Known: c.Known || other.Known}
}

// Usage is what one provider call consumed, in tokens, in one arithmetic for
// all providers: InputTotal includes what was read from and written to the
// cache, OutputTotal includes Reasoning, and
// InputTotal = InputFresh + CacheRead + CacheWrite.
type Usage struct {
	InputTotal Count
	InputFresh Count
	CacheRead  Count
	CacheWrite Count
	// The writes by lifetime, where the provider tells them apart. They are
	// parts of CacheWrite.
	CacheWrite5m, CacheWrite30m, CacheWrite1h, CacheWrite12h Count

	OutputTotal Count
	Reasoning   Count
	// ToolInput is the part of InputTotal that results of provider-hosted
	// tools added.
	ToolInput Count
	// Context is the size of the prompt that the model saw last, where one call
	// took several steps and InputTotal is therefore a sum; unknown otherwise.
	Context Count
	// Mixed says that models of different prices have had a part in it.
	Mixed bool
}

// SetInput fills the input side from a total that includes what was read from
// and written to the cache, as most providers count. Some report a total that
// excludes them; a part larger than the whole gives those away, and then the
// total given is what was fresh. An unknown total leaves the one that was set
// before.
func (u *Usage) SetInput(total, read, write Count) {
	u.CacheRead, u.CacheWrite = read, write
	if !total.Known {
		total = u.InputTotal
	}
	if !total.Known {
		return
	}
	fresh := total.N - read.N - write.N
	if fresh < 0 {
		fresh = total.N
		total = Tokens(total.N + read.N + write.N)
	}
	u.InputTotal, u.InputFresh = total, Tokens(fresh)
}

// Known reports whether the provider said anything at all.
func (u Usage) Known() bool {
	return u.InputTotal.Known || u.OutputTotal.Known
}

// CacheOutcome says how a request met the provider's prompt cache.
type CacheOutcome uint8

// The outcomes. Unreported is never counted as a miss.
const (
	CacheUnreported CacheOutcome = iota
	CacheHit
	CachePartial
	CacheMiss
	CacheCold
)

// CacheOutcomes lists every outcome for metric labels.
var CacheOutcomes = []CacheOutcome{CacheUnreported, CacheHit, CachePartial, CacheMiss, CacheCold}

// String is the outcome's metric label.
func (o CacheOutcome) String() string {
	switch o {
	case CacheHit:
		return "hit"
	case CachePartial:
		return "partial"
	case CacheMiss:
		return "miss"
	case CacheCold:
		return "cold"
	case CacheUnreported:
		return "unreported"
	}
	return "unreported"
}

// Plus adds what another call has consumed that went on from this one. The size of
// the prompt that the model saw last is that of the other.
func (u Usage) Plus(next Usage) Usage {
	sum := Usage{
		InputTotal: u.InputTotal.Plus(next.InputTotal), InputFresh: u.InputFresh.Plus(next.InputFresh),
		CacheRead: u.CacheRead.Plus(next.CacheRead), CacheWrite: u.CacheWrite.Plus(next.CacheWrite),
		CacheWrite5m: u.CacheWrite5m.Plus(next.CacheWrite5m), CacheWrite30m: u.CacheWrite30m.Plus(next.CacheWrite30m),
		CacheWrite1h: u.CacheWrite1h.Plus(next.CacheWrite1h), CacheWrite12h: u.CacheWrite12h.Plus(next.CacheWrite12h),
		OutputTotal: u.OutputTotal.Plus(next.OutputTotal), Reasoning: u.Reasoning.Plus(next.Reasoning),
		ToolInput: u.ToolInput.Plus(next.ToolInput), Context: next.Context, Mixed: u.Mixed || next.Mixed,
	}
	if u.Known() && !sum.Context.Known {
		sum.Context = next.InputTotal
	}
	return sum
}

// Given is the output side of a usage.
func (u Usage) Given() Usage {
	return Usage{OutputTotal: u.OutputTotal, Reasoning: u.Reasoning, Mixed: u.Mixed}
}
