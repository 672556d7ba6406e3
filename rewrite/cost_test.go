package rewrite_test

import (
	"testing"

	"warmpath/rewrite"
)

func TestDollars(t *testing.T) {
	for text, want := range map[string]rewrite.Dollars{
		"0": 0, "1": rewrite.Dollar, "0.000000000001": 1, "12.5": 12_500_000_000_000, "0.259543625": 259_543_625_000,
	} {
		if got := want.String(); got != text {
			t.Errorf("%d is written %s, want %s", want, got, text)
		}
		if got, ok := rewrite.ParseDollars([]byte(text)); !ok || got != want {
			t.Errorf("%s is read as %d, %v, want %d", text, got, ok, want)
		}
	}
	if got := rewrite.Dollars(-1_500_000_000_000).String(); got != "-1.5" {
		t.Errorf("less than nothing is written %s", got)
	}
	for text, want := range map[string]rewrite.Dollars{"9.5e-06": 9_500_000, "1E1": 10 * rewrite.Dollar, "0.0000000000019": 1} {
		if got, ok := rewrite.ParseDollars([]byte(text)); !ok || got != want {
			t.Errorf("%s is read as %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-1", `"1"`, "null", "1/2", "0x10", "1_0", "{}", "1e999999999", "1000001", "nan", "Inf"} {
		if got, ok := rewrite.ParseDollars([]byte(text)); ok {
			t.Errorf("%s is read as %d", text, got)
		}
	}
	for amount, want := range map[rewrite.Dollars]string{
		0: "0.0000", 259_543_625_000: "0.2595", 12 * rewrite.Dollar: "12.0000", 95_000_000: "0.000095", 44_400_000: "0.000044", 1: "0.0000000000010", 100_000_000: "0.0001",
	} {
		if got := amount.Round(); got != want {
			t.Errorf("%s is rounded to %s, want %s", amount, got, want)
		}
	}
}
