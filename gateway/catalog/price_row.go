package catalog

import (
	"errors"
	"math/big"
	"slices"
	"strings"

	"warmpath/rewrite"
)

// PriceRow is the price of a model as it is written in configuration: numbers of
// US dollars per million tokens, by its columns.
type PriceRow struct {
	// Tokens are the prices by PriceColumns.
	Tokens map[string]string `yaml:"tokens"`
	// Above are the prices of the whole call where the prompt has more tokens than
	// its column tokens says.
	Above map[string]string `yaml:"above"`
	// Hosted are prices of a thousand calls of the tools that the provider runs, by
	// capability.
	Hosted map[string]string `yaml:"hosted"`
	// Terms are factors on the prices of tokens, by rewrite.TermsNames.
	Terms map[string]string `yaml:"terms"`
}

// PriceColumns are the columns of a price: what fresh input costs, what is read
// from a cache, what is written to it by lifetime or for any, and output.
var PriceColumns = []string{"input", "read", "write", "write_5m", "write_30m", "write_1h", "write_12h", "output"}

// The bounds of what a price can be, in dollars, and of a factor.
const (
	mostPerMillion  = 1000
	mostPerThousand = 1000
	mostFactor      = 10
)

// compile checks a row and makes a Price of it.
func (r PriceRow) compile(report func(message string, path ...string)) *Price {
	p := &Price{rates: rowRates(r.Tokens, report)}
	if len(r.Above) > 0 {
		threshold, tokens := r.Above["tokens"], map[string]string{}
		for column, text := range r.Above {
			if column != "tokens" {
				tokens[column] = text
			}
		}
		n, err := scaled(threshold, 0, mostTokens)
		if err != nil || n == 0 {
			report("is "+quote(threshold)+"; write the number of tokens of a prompt above which these prices apply", "above", "tokens")
		}
		if p.above = n; len(tokens) > 0 {
			p.over = rowRates(tokens, func(message string, path ...string) { report(message, append([]string{"above"}, path...)...) })
		}
	}
	p.hosted = make(map[string]rewrite.Dollars, len(r.Hosted))
	for name, text := range sorted(r.Hosted) {
		if !slices.Contains(rewrite.Capabilities, name) {
			report("is not a kind of tool; write one of "+strings.Join(rewrite.Capabilities, ", "), "hosted", name)
			continue
		}
		n, err := scaled(text, 9, mostPerThousand)
		if err != nil {
			report("is "+quote(text)+"; write US dollars per thousand calls, from 0 to 1000", "hosted", name)
		}
		p.hosted[name] = rewrite.Dollars(n)
	}
	for name, text := range sorted(r.Terms) {
		at := slices.Index(rewrite.TermsNames[:], name)
		if at < 0 {
			report("are no terms of a call; write one of "+strings.Join(rewrite.TermsNames[:], ", "), "terms", name)
			continue
		}
		n, err := scaled(text, 3, mostFactor)
		if err != nil || n == 0 {
			report("is "+quote(text)+"; write a factor, like 0.5 or 1.1", "terms", name)
		}
		p.factors[at] = uint64(n)
	}
	return p
}

// rowRates reads the prices of tokens. Input and output have one in every row.
func rowRates(row map[string]string, report func(message string, path ...string)) (r rates) {
	for column, text := range sorted(row) {
		n, err := scaled(text, 6, mostPerMillion)
		if err != nil {
			report("is "+quote(text)+"; write US dollars per million tokens, from 0 to 1000 with at most 6 decimals", column)
		}
		at := rate{rewrite.Dollars(n), true}
		switch column {
		case "input":
			r.input = at
		case "read":
			r.read = at
		case "output":
			r.output = at
		case "write":
			// What has a price of its own is set below.
		default:
			r.writes[slices.Index(lifetimes[:], strings.TrimPrefix(column, "write_"))] = at
		}
	}
	for _, column := range []string{"input", "output"} {
		if row[column] == "" {
			report("is needed; write US dollars per million tokens", column)
		}
	}
	r.fill(row["write"])
	return r
}

// fill prices the writes that have no price of their own: as those of any
// lifetime. One whose lifetime is not told costs as much as the shortest, which
// is what providers give where nobody asks.
func (r *rates) fill(anyLifetime string) {
	rest := &r.writes[len(lifetimes)]
	if anyLifetime != "" {
		n, _ := scaled(anyLifetime, 6, mostPerMillion) // checked by the caller
		*rest = rate{rewrite.Dollars(n), true}
	}
	for i := range lifetimes {
		switch at := &r.writes[i]; {
		case !at.known && anyLifetime != "":
			*at = *rest
		case at.known && !rest.known:
			*rest = *at
		}
	}
}

// scaled reads a decimal number exactly, as a whole number of units of which
// there are ten to the power of decimals in one.
func scaled(text string, decimals, most int64) (int64, error) {
	number, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/xXpPeE_") || len(text) > 32 {
		return 0, errors.New("is not a decimal number")
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	number.Mul(number, new(big.Rat).SetInt(unit))
	limit := new(big.Int).Mul(big.NewInt(most), unit)
	if !number.IsInt() || number.Sign() < 0 || number.Num().Cmp(limit) > 0 {
		return 0, errors.New("is out of bounds")
	}
	return number.Num().Int64(), nil
}
