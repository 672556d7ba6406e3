// Package secret holds the one type that keys and tokens live in. Whatever
// prints, logs or encodes it shows asterisks; only Reveal gives the value.
package secret

import (
	"fmt"
	"log/slog"
)

// Mask is what every printed form of a secret shows.
const Mask = "***"

// String is a key or token. The zero value is no secret at all and prints as
// the empty string, so that "not set" and "set" can be told apart.
type String struct{ value string }

// New wraps a key or token.
func New(value string) String { return String{value} }

// Reveal is the key itself, for the one place that sends it.
func (s String) Reveal() string { return s.value }

// IsZero reports whether no secret is set; YAML and JSON encoders use it to
// leave the field out.
func (s String) IsZero() bool { return s.value == "" }

// String is the masked form.
func (s String) String() string {
	if s.IsZero() {
		return ""
	}
	return Mask
}

// GoString is the masked form, for %#v.
func (s String) GoString() string { return s.String() }

// Format is the masked form for every other verb, %x and %d included.
func (s String) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(s.String())) }

// LogValue is the masked form, for slog.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is the masked form, for JSON, YAML and everything built on text.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
