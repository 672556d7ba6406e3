package rewrite_test

import (
	"testing"

	"warmpath/rewrite"
)

func TestOutcomeOf(t *testing.T) {
	usage := func(total, read int64) rewrite.Usage {
		return rewrite.Usage{InputTotal: rewrite.Tokens(total), CacheRead: rewrite.Tokens(read)}
	}
	tests := map[string]struct {
		usage rewrite.Usage
		first bool
		want  rewrite.CacheOutcome
	}{
		"nothing reported":             {rewrite.Usage{}, false, rewrite.CacheUnreported},
		"input without cache numbers":  {rewrite.Usage{InputTotal: rewrite.Tokens(9000)}, false, rewrite.CacheUnreported},
		"read without an input total":  {rewrite.Usage{CacheRead: rewrite.Tokens(9000)}, false, rewrite.CacheUnreported},
		"everything read":              {usage(9000, 9000), false, rewrite.CacheHit},
		"exactly nine tenths":          {usage(10000, 9000), false, rewrite.CacheHit},
		"one token below nine tenths":  {usage(10000, 8999), false, rewrite.CachePartial},
		"one token read":               {usage(10000, 1), false, rewrite.CachePartial},
		"first, but a shared prefix":   {usage(10000, 4000), true, rewrite.CachePartial},
		"nothing read":                 {usage(10000, 0), false, rewrite.CacheMiss},
		"nothing read, first":          {usage(10000, 0), true, rewrite.CacheCold},
		"too short for any cache":      {usage(511, 0), false, rewrite.CacheCold},
		"just long enough for a cache": {usage(512, 0), false, rewrite.CacheMiss},
		"no input at all":              {usage(0, 0), false, rewrite.CacheCold},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rewrite.OutcomeOf(tt.usage, tt.first); got != tt.want {
				t.Errorf("OutcomeOf(%+v, %v) = %v, want %v", tt.usage, tt.first, got, tt.want)
			}
		})
	}
}
