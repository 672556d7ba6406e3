package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// value is a field of the configuration that can be read from its written form
// and written back. The error of parse goes on from the setting's name and
// holds the text only where that cannot be a secret.
type value interface {
	parse(text string) error
	text() string
}

var (
	_ value = word{}
	_ value = truth{}
	_ value = count{}
	_ value = bytes[int]{}
	_ value = span{}
	_ value = life{}
	_ value = modeOf{}
	_ value = askingOf{}
	_ value = credential{}
	_ value = keptOf{}
)

type word struct{ field *string }

func (w word) parse(text string) error { *w.field = text; return nil }
func (w word) text() string            { return *w.field }

type truth struct{ field *bool }

func (b truth) parse(text string) error {
	switch text {
	case "true":
		*b.field = true
	case "false":
		*b.field = false
	default:
		return fmt.Errorf("is %s; write true or false", quote(text))
	}
	return nil
}

func (b truth) text() string { return strconv.FormatBool(*b.field) }

type count struct {
	field       *int
	least, most int
}

func (c count) parse(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < c.least || n > c.most {
		return fmt.Errorf("is %s; write a whole number from %d to %d", quote(text), c.least, c.most)
	}
	*c.field = n
	return nil
}

func (c count) text() string { return strconv.Itoa(*c.field) }

// bytes is a size: a whole number of bytes, or of a unit of them.
type bytes[T int | int64] struct {
	field       *T
	least, most T
	// auto is what the word auto stands for; nil where there is no such word.
	auto func() T
}

func (b bytes[T]) parse(text string) error {
	if b.auto != nil && text == "auto" {
		*b.field = b.auto()
		return nil
	}
	n, err := parseSize(text)
	if err != nil {
		return err
	}
	if n < int64(b.least) || n > int64(b.most) {
		return fmt.Errorf("is %s; write a size from %s to %s", formatSize(n), formatSize(int64(b.least)), formatSize(int64(b.most)))
	}
	*b.field = T(n)
	return nil
}

func (b bytes[T]) text() string { return formatSize(int64(*b.field)) }

// units are the suffixes of sizes. The last ones are the largest binary ones,
// which sizes are written in.
var units = []struct {
	name  string
	bytes int64
}{
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
}

func parseSize(text string) (int64, error) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	suffix := strings.TrimLeft(text[end:], " ")
	unit := int64(0)
	if suffix == "" {
		unit = 1
	}
	for _, u := range units {
		if u.name == suffix {
			unit = u.bytes
		}
	}
	if err != nil || unit == 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("is %s, which is not a size; write bytes, or a unit like 64MiB, 8KiB or 1GiB", quote(text))
	}
	return n * unit, nil
}

func formatSize(n int64) string {
	for i := len(units) - 1; i >= 0; i-- {
		if u := units[i]; n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// span is a length of time. Zero is allowed where it has a meaning.
type span struct {
	field *time.Duration
	zero  bool
}

// longestSpan is far beyond every sensible timeout, and far below overflow;
// longestLife is that for what a store keeps.
const (
	longestSpan = 24 * time.Hour
	longestLife = 366 * 24 * time.Hour
)

func (s span) parse(text string) error {
	d, err := parseSpan(text, longestSpan, s.zero)
	if err == nil {
		*s.field = d
	}
	return err
}

func (s span) text() string { return formatSpan(*s.field) }

// life is how long a store keeps something.
type life struct{ field *time.Duration }

func (l life) parse(text string) error {
	d, err := parseSpan(text, longestLife, false)
	if err == nil {
		*l.field = d
	}
	return err
}

func (l life) text() string { return formatSpan(*l.field) }

// parseSpan reads a length of time within bounds.
func parseSpan(text string, longest time.Duration, zero bool) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("is %s, which is not a length of time; write it like 500ms, 10s or 1m30s", quote(text))
	}
	if d < 0 || d > longest || d == 0 && !zero {
		least := "more than 0s"
		if zero {
			least = "0s"
		}
		return 0, fmt.Errorf("is %s; write a time from %s to %s", formatSpan(d), least, formatSpan(longest))
	}
	return d, nil
}

// formatSpan writes 10m where Duration.String has 10m0s.
func formatSpan(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

type modeOf struct{ field *rewrite.Mode }

func (m modeOf) parse(text string) error {
	mode, ok := rewrite.ParseMode(text)
	if !ok {
		return fmt.Errorf("is %s; write off, observe or on", quote(text))
	}
	*m.field = mode
	return nil
}

func (m modeOf) text() string { return m.field.String() }

type askingOf struct{ field *continuity.Asking }

func (a askingOf) parse(text string) error {
	asking, ok := continuity.ParseAsking(text)
	if !ok {
		return fmt.Errorf("is %s; write never, edited or always", quote(text))
	}
	*a.field = asking
	return nil
}

func (a askingOf) text() string { return a.field.String() }

type keptOf struct{ field *Kept }

func (k keptOf) parse(text string) error {
	for _, where := range []Kept{KeptNowhere, KeptInMemory, KeptOnDisk} {
		if text == where.String() {
			*k.field = where
			return nil
		}
	}
	return fmt.Errorf("is %s; write off, memory or disk", quote(text))
}

func (k keptOf) text() string { return k.field.String() }

// credential is a secret that has already been fetched from where it is kept.
type credential struct{ field *secret.String }

func (c credential) parse(text string) error {
	if err := sendable(text); err != nil {
		return err
	}
	*c.field = secret.New(text)
	return nil
}

func (c credential) text() string { return c.field.String() }

// sendable reports whether a secret can stand in a header. Its error must not
// hold the secret.
func sendable(text string) error {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return errors.New("holds white space or characters outside ASCII, which no header can carry; check that it was copied whole")
		}
	}
	return nil
}

// quote repeats a value in a message, unless it may be a secret in the wrong
// place: a long one, or the rest of a line that lost its form.
func quote(text string) string {
	const longest = 24
	if len(text) > longest || strings.ContainsAny(text, " \t\n") {
		return secret.Mask
	}
	return strconv.Quote(text)
}
