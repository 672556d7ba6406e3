package console

import (
	"fmt"
	"strconv"
	"time"
)

// turn is a request of a conversation, as it is drawn.
type turn struct {
	*Request
	tokens cacheTokens
	// most is the longest input of those that are drawn beside it.
	most int64
}

// tokensOf is what the cache did with the input of a request, as far as it is known.
func tokensOf(r *Request) cacheTokens {
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	c := cacheTokens{Read: value(r.Read), Write: value(r.Written)}
	if c.Fresh = value(r.Fresh); r.Fresh == nil && r.Input != nil && (r.Read != nil || r.Written != nil) {
		c.Fresh = max(*r.Input-c.Read-c.Write, 0)
	}
	return c
}

// Bar is the input of the turn as a bar that is as long as it is of the longest one.
func (t turn) Bar() bar { return barOf(t.tokens, t.most) }

// Cached is what the cache did with the input.
func (t turn) Cached() cacheTokens { return t.tokens }

// Share is how much of the input came from the cache.
func (t turn) Share() string { return t.tokens.Share() }

// In is how much input there was, where that is known.
func (t turn) In() string {
	switch {
	case t.Input != nil:
		return compact(*t.Input)
	case t.tokens.total() > 0:
		return compact(t.tokens.total())
	}
	return "–"
}

// Out is how much output there was.
func (t turn) Out() string {
	if t.Output == nil {
		return "–"
	}
	return compact(*t.Output)
}

// Cost is what the turn has cost.
func (t turn) Cost() string {
	amount, known := requestCost(t.Request)
	switch {
	case !known:
		return "–"
	case t.CostLeast:
		return "≥ " + dollars(amount)
	}
	return dollars(amount)
}

// requestCost is what a request has cost in US dollars, if that is known.
func requestCost(r *Request) (amount float64, known bool) {
	if r.Cost == nil {
		return 0, false
	}
	amount, err := strconv.ParseFloat(r.Cost.String(), 64)
	return amount, err == nil
}

// Broke reports whether the turn found less than had been put into the cache for it.
func (t turn) Broke() bool { return t.Miss != nil && t.Miss.Missed > 0 }

// Kept reports whether the turn would have found less without the gateway.
func (t turn) Kept() bool { return t.Continuity != nil && t.Continuity.Saved > 0 }

// Bad reports whether the request has failed.
func (t turn) Bad() bool { return t.Status >= 400 }

// Badge is the one thing to say of the turn, if there is one.
func (t turn) Badge() string {
	switch {
	case t.Bad():
		return fmt.Sprintf("%d %s", t.Status, t.Reason)
	case t.Broke():
		return "✗ " + t.Miss.Reason
	case t.Kept():
		return "kept warm"
	case t.Miss != nil:
		return t.Miss.Reason
	}
	return ""
}

// BadgeClass says how it is drawn.
func (t turn) BadgeClass() string {
	switch {
	case t.Bad(), t.Broke():
		return "bad"
	case t.Kept():
		return "good"
	}
	return "plain"
}

// Sentence is the turn in words, for those who do not see its bar.
func (t turn) Sentence() string {
	s := t.Arrived.UTC().Format(time.TimeOnly) + " UTC, " + t.tokens.Sentence()
	if t.Broke() && !t.Bad() {
		return s + "; break: " + t.Miss.Reason
	}
	if badge := t.Badge(); badge != "" {
		s += "; " + badge
	}
	return s
}

// Took is how long the request took.
func (t turn) Took() string { return took(t.Milliseconds) }

// First is how long it took to the first token.
func (t turn) First() string { return took(t.FirstToken) }

// Explained is the record of the turn in words.
func (t turn) Explained() explained { return explain(t.Request) }
