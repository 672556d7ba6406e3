package console

import (
	"fmt"
	"strconv"
)

// percent is a share with one decimal; of nothing it is unknown, not zero.
func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + " %"
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// shortSeconds is a bucket's bound in the unit it is short in.
func shortSeconds(s float64) string {
	switch {
	case s == 0:
		return "–"
	case s < 1e-3:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%g ms", s*1e3)
	}
	return fmt.Sprintf("%g s", s)
}

// dollars is an amount of money to the cent, or as far as it takes where it is
// less.
func dollars(amount float64) string {
	if amount == 0 {
		return "$0"
	}
	decimals := 2
	for least := 0.01; amount < least && decimals < 12; least /= 10 {
		decimals++
	}
	return "$" + strconv.FormatFloat(amount, 'f', decimals, 64)
}
