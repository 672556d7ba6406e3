package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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

// compact is a number of tokens in the few digits that matter.
func compact(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + "k"
	case n < 999_950_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + "G"
}

// counted is a number of things.
func counted(n int64, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		return grouped(n) + " " + thing + "es"
	}
	return grouped(n) + " " + thing + "s"
}

// uptime is how long something has run, in the two units that say most, so that it
// changes once a minute.
func uptime(d time.Duration) string {
	switch minutes := int64(d / time.Minute); {
	case minutes < 1:
		return "for less than a minute"
	case minutes < 60:
		return fmt.Sprintf("for %d min", minutes)
	case minutes < 24*60:
		return fmt.Sprintf("for %d h %d min", minutes/60, minutes%60)
	default:
		return fmt.Sprintf("for %d d %d h", minutes/(24*60), minutes/60%24)
	}
}

// took is the time that something took, from milliseconds.
func took(ms float64) string {
	switch {
	case ms == 0:
		return "–"
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f min", ms/60_000)
}
