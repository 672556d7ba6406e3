package rewrite_test

import (
	"slices"
	"testing"

	"warmpath/rewrite"
)

func TestDialectsHaveNames(t *testing.T) {
	names := map[string]bool{}
	for _, d := range append(slices.Clone(rewrite.Dialects), rewrite.Converse) {
		name := d.String()
		if back, ok := rewrite.ParseDialect(name); !ok || back != d || names[name] {
			t.Errorf("%d is named %q, which is read as %s, %v", d, name, back, ok)
		}
		names[name] = true
	}
	for _, d := range rewrite.ProviderDialects {
		if !names[d.String()] {
			t.Errorf("%s is unknown", d)
		}
	}
	if _, ok := rewrite.ParseDialect("soap"); ok {
		t.Error("soap is a dialect")
	}
}
