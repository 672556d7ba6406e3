package catalog

import (
	"math/bits"

	"warmpath/rewrite"
)

// Price is what a provider asks for the use of one model.
type Price struct {
	rates
	// above is the size of a prompt, in tokens, beyond which the whole call costs
	// what over says; zero for none.
	above int64
	over  rates
	// hosted are prices of one call of a tool that the provider runs, by
	// capability.
	hosted map[string]rewrite.Dollars
	// factors are what other terms cost as a multiple, in thousandths, by their
	// bits; zero is unknown.
	factors [len(rewrite.TermsNames)]uint64
	// charged says that the provider reports what each call cost, in dollars.
	charged bool
}

// rates are prices of one token.
type rates struct {
	input, read, output rate
	// writes are by lifetime, in the order of lifetimes; the last is for those
	// whose lifetime is not told.
	writes [len(lifetimes) + 1]rate
}

// rate is a price of one token that may not be known.
type rate struct {
	price rewrite.Dollars
	known bool
}

// lifetimes are the lifetimes of what is written to a cache, shortest first.
var lifetimes = [...]string{"5m", "30m", "1h", "12h"}

// usual is the factor of the usual terms, and regional the bit of those that keep
// the data in a region.
const (
	usual    = 1000
	regional = 4
)

// mostTokens and mostCalls are far beyond what one call can use, and keep sums
// from overflowing. A provider that reports more tokens has miscounted, and what
// they cost is not known.
const (
	mostTokens = 1e8
	mostCalls  = 1e5
)

// Use is what one call has used.
type Use struct {
	rewrite.Usage
	Terms rewrite.Terms
	// Charged is what the provider says that it cost, where it does.
	Charged rewrite.Dollars
	// Activity has the calls of tools that the provider charges for; nil for none.
	Activity *rewrite.Activity
}

// Cost is what a call costs that has used u. It is unknown where nothing was
// reported, and where something was used whose price is not known; tools that
// the provider runs only make it the least that the call costs. A nil Price
// knows nothing.
func (p *Price) Cost(u *Use) (c rewrite.Cost) {
	switch {
	case p == nil:
		return c
	case p.charged && u.Charged > 0:
		return rewrite.Cost{Charged: u.Charged, Known: true}
	case !u.Known(), u.Mixed:
		return c
	}
	factor, ok := p.factor(u.Terms)
	if !ok {
		return c
	}
	rates := p.at(&u.Usage)
	bill := func(tokens int64, at rate) (sum rewrite.Dollars) {
		switch {
		case tokens <= 0:
		case !at.known || tokens > mostTokens:
			ok = false
		default:
			sum = times(tokens, at.price, factor)
		}
		return sum
	}
	c.Fresh, c.Read, c.Output = bill(fresh(&u.Usage), rates.input), bill(u.CacheRead.N, rates.read), bill(u.OutputTotal.N, rates.output)
	rest := u.CacheWrite.N
	for i, n := range [...]rewrite.Count{u.CacheWrite5m, u.CacheWrite30m, u.CacheWrite1h, u.CacheWrite12h} {
		c.Write += bill(n.N, rates.writes[i])
		rest -= n.N
	}
	c.Write += bill(rest, rates.writes[len(lifetimes)])
	for name, calls := range u.Activity.Charged {
		price, known := p.hosted[name]
		c.Least = c.Least || !known
		c.Hosted += times(min(calls, mostCalls), price, usual)
	}
	if !ok {
		return rewrite.Cost{}
	}
	c.Known = true
	return c
}

// Saved is what it saves to have read tokens from the cache that would have been
// fresh otherwise; ok is false where a price is not known.
func (p *Price) Saved(tokens int64, u *rewrite.Usage) (saved rewrite.Dollars, ok bool) {
	if p == nil || tokens > mostTokens {
		return 0, false
	}
	r := p.at(u)
	if !r.input.known || !r.read.known {
		return 0, false
	}
	return times(tokens, max(r.input.price-r.read.price, 0), usual), true
}

// at gives the rates for a prompt of the size that the model saw.
func (p *Price) at(u *rewrite.Usage) *rates {
	prompt := u.InputTotal
	if u.Context.Known {
		prompt = u.Context
	}
	if p.above > 0 && prompt.N > p.above {
		return &p.over
	}
	return &p.rates
}

func fresh(u *rewrite.Usage) int64 {
	if u.InputFresh.Known || !u.InputTotal.Known {
		return u.InputFresh.N
	}
	return u.InputTotal.N - u.CacheRead.N - u.CacheWrite.N
}

// inRegion is the price of calls that never leave one region, for a host that
// asks more for that and does not say so in its replies.
func (p *Price) inRegion() *Price {
	q, factor := *p, p.factors[regional]
	more := func(r rates) rates {
		for _, at := range []*rate{&r.input, &r.read, &r.output} {
			at.price = times(1, at.price, factor)
		}
		for i := range r.writes {
			r.writes[i].price = times(1, r.writes[i].price, factor)
		}
		return r
	}
	q.rates, q.over = more(p.rates), more(p.over)
	q.factors[regional] = usual
	return &q
}

// factor multiplies what terms cost beside the usual ones.
func (p *Price) factor(terms rewrite.Terms) (factor uint64, ok bool) {
	factor = usual
	for i := range p.factors {
		if terms&(1<<i) != 0 {
			factor = factor * p.factors[i] / usual
		}
	}
	return factor, factor > 0
}

// times is n times a price and a factor in thousandths, to the nearest
// trillionth of a dollar.
func times(n int64, price rewrite.Dollars, factor uint64) rewrite.Dollars {
	high, low := bits.Mul64(uint64(n)*factor, uint64(price))
	low, carry := bits.Add64(low, usual/2, 0)
	sum, _ := bits.Div64(high+carry, low, usual)
	return rewrite.Dollars(sum)
}
