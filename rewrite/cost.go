package rewrite

import (
	"bytes"
	"math/big"
	"strconv"
)

// Dollars is an amount of money in trillionths of a US dollar: fine enough that
// no published price of a token has a fraction of it.
type Dollars int64

// Dollar is one US dollar.
const Dollar Dollars = 1e12

// ParseDollars reads an amount of dollars from a decimal number as JSON writes it;
// ok is false for anything else, and for what is less than nothing or more than
// any call can cost. What is finer than the unit is left out.
func ParseDollars(number []byte) (d Dollars, ok bool) {
	const longest, most = 40, 1_000_000
	if len(number) == 0 || len(number) > longest || number[0] == '"' {
		return 0, false
	}
	var amount big.Rat
	if bytes.ContainsAny(number, "/xXpP_") {
		return 0, false
	}
	if at := bytes.IndexAny(number, "eE"); at >= 0 && len(number)-at > 4 {
		return 0, false // such as no amount of money has
	}
	if _, ok := amount.SetString(string(number)); !ok || amount.Sign() < 0 || amount.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, false
	}
	amount.Mul(&amount, big.NewRat(int64(Dollar), 1))
	return Dollars(new(big.Int).Quo(amount.Num(), amount.Denom()).Int64()), true
}

// Float is the amount in dollars, for counters; sums are made before it.
func (d Dollars) Float() float64 { return float64(d) / float64(Dollar) }

// Append appends the amount in dollars as an exact decimal number that is also
// JSON: 0.2359, 12, -0.5.
func (d Dollars) Append(dst []byte) []byte {
	n := uint64(d)
	if d < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = strconv.AppendUint(dst, n/uint64(Dollar), 10)
	fraction := n % uint64(Dollar)
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(Dollar / 10); fraction > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit))
		fraction %= unit
	}
	return dst
}

// String is the amount in dollars as an exact decimal number.
func (d Dollars) String() string { return string(d.Append(nil)) }

// Round is the amount in dollars as people read it: to a hundredth of a cent, or
// to two digits where it is less than that.
func (d Dollars) Round() string {
	decimals, unit := 4, Dollar/10000
	for ; d > 0 && d < unit && unit > 1; unit /= 10 {
		decimals++
	}
	if decimals > 4 {
		decimals++
	}
	return strconv.FormatFloat(d.Float(), 'f', decimals, 64)
}

// Cost is what one call has cost, by what it was for. The zero Cost is unknown,
// which is not the same as nothing.
type Cost struct {
	// Fresh is for input that no cache had, Read and Write are for what was read
	// from and written to it, Output includes reasoning, and Hosted is for calls
	// of tools that the provider ran.
	Fresh, Read, Write, Output, Hosted Dollars
	// Charged is what the provider itself says that the call cost, in place of
	// all the others.
	Charged Dollars
	Known   bool
	// Least says that something was used besides whose price is not known, so
	// that the call has cost more.
	Least bool
}

// Total is the sum.
func (c Cost) Total() Dollars {
	return c.Fresh + c.Read + c.Write + c.Output + c.Hosted + c.Charged
}

// Terms are what a reply says of the terms that it was made on, where they are
// not the provider's usual ones: each has its own price.
type Terms uint8

// The terms, as a set.
const (
	// TermsBatch and TermsFlex wait for less money, TermsPriority and TermsFast go
	// first for more.
	TermsBatch Terms = 1 << iota
	TermsFlex
	TermsPriority
	TermsFast
	// TermsRegional keeps the data in one region.
	TermsRegional
	// TermsOther are any that this version has no word for.
	TermsOther
)

// TermsNames are the words for terms in price tables, in the order of their
// bits.
var TermsNames = [...]string{"batch", "flex", "priority", "fast", "regional", "other"}
