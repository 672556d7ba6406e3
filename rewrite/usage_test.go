package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func TestSetInput(t *testing.T) {
	tokens, unknown := rewrite.Tokens, rewrite.Count{}
	for name, c := range map[string]struct {
		before             rewrite.Usage
		total, read, write rewrite.Count
		want               rewrite.Usage
	}{
		"inclusive": {
			total: tokens(1000), read: tokens(900), write: tokens(90),
			want: rewrite.Usage{InputTotal: tokens(1000), InputFresh: tokens(10), CacheRead: tokens(900), CacheWrite: tokens(90)},
		},
		"everything read": {
			total: tokens(100), read: tokens(100), write: tokens(0),
			want: rewrite.Usage{InputTotal: tokens(100), InputFresh: tokens(0), CacheRead: tokens(100), CacheWrite: tokens(0)},
		},
		"exclusive read": {
			total: tokens(75), read: tokens(100), write: unknown,
			want: rewrite.Usage{InputTotal: tokens(175), InputFresh: tokens(75), CacheRead: tokens(100)},
		},
		"exclusive write": {
			total: tokens(8), read: tokens(0), write: tokens(5120),
			want: rewrite.Usage{InputTotal: tokens(5128), InputFresh: tokens(8), CacheRead: tokens(0), CacheWrite: tokens(5120)},
		},
		"nothing of a cache": {
			total: tokens(9), want: rewrite.Usage{InputTotal: tokens(9), InputFresh: tokens(9)},
		},
		"no total": {
			read: tokens(5), want: rewrite.Usage{CacheRead: tokens(5)},
		},
		"no total now": {
			before: rewrite.Usage{InputTotal: tokens(9), InputFresh: tokens(9)},
			read:   tokens(5),
			want:   rewrite.Usage{InputTotal: tokens(9), InputFresh: tokens(4), CacheRead: tokens(5)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.before
			got.SetInput(c.total, c.read, c.write)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
