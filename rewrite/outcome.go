package rewrite

// leastCacheable is the smallest prefix, in tokens, that any provider caches.
// A shorter prompt reports zero tokens read because it cannot do otherwise.
const leastCacheable = 512

// OutcomeOf judges from one call's usage how its request met the provider's
// prompt cache. First says that nothing before this request can have warmed
// the cache for it.
//
// A hit read at least nine tenths of the input: all but the newest turn. A
// partial one read something, but less: either the prefix broke on the way, or
// the newest turn is long, and only who remembers the previous request can tell
// the two apart. Where nothing was read the request was cold if it is the first
// or too short for any cache, and else a miss. A provider that does not say how
// much it read, or how long the input was, is unreported and never a miss.
func OutcomeOf(u Usage, first bool) CacheOutcome {
	if !u.CacheRead.Known || !u.InputTotal.Known {
		return CacheUnreported
	}
	switch read, total := u.CacheRead.N, u.InputTotal.N; {
	case read > 0 && read >= total-total/10:
		return CacheHit
	case read > 0:
		return CachePartial
	case first || total < leastCacheable:
		return CacheCold
	}
	return CacheMiss
}
