package anthropic_test

import (
	"testing"

	"warmpath/rewrite/anthropic"
)

func TestFirstDifference(t *testing.T) {
	tests := map[string]struct {
		older, newer string
		rest         string // of the newer from the difference on
	}{
		"in the text":             {`{"type":"text","text":"day 1"}`, `{"type":"text","text":"day 2"}`, `2"}`},
		"behind a mark":           {`{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}`, `{"cache_control":{"type":"ephemeral"},"type":"text","text":"b"}`, `b"}`},
		"behind a mark of one":    {`{"type":"text","text":"a"}`, `{"cache_control":{"type":"ephemeral"},"type":"text","text":"b"}`, `b"}`},
		"before a mark":           {`{"type":"text","text":"a"}`, `{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}`, `b","cache_control":{"type":"ephemeral"}}`},
		"nothing but a mark":      {`{"type":"text","text":"a"}`, `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`, ``},
		"the older one goes on":   {`"ab"`, `"a"`, `"`},
		"nothing there before":    {``, `{"name":"x"}`, `{"name":"x"}`},
		"another order":           {`{"a":1,"b":2}`, `{"b":2,"a":1}`, `b":2,"a":1}`},
		"no element of any kind":  {`[1,2`, `[1,3`, `3`},
		"the end of what is same": {`{"type":"text","text":"a"}`, `{"type":"text","text":"a"}`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, old := anthropic.FirstDifference([]byte(test.older), []byte(test.newer))
			if got := test.newer[in:]; got != test.rest {
				t.Errorf("the difference is at %q, want %q", got, test.rest)
			}
			if old < 0 || old > len(test.older) {
				t.Errorf("the older one differs at %d of %d", old, len(test.older))
			}
		})
	}
}
