package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readUsage replaces usage by a usage object; both cache counters are parts of
// its input. Null, as the early events have it, changes nothing.
func readUsage(usage []byte, u *rewrite.Usage) {
	if splice.Empty(usage) {
		return
	}
	var next rewrite.Usage
	var total, read, write rewrite.Count
	splice.Fields(usage, func(key, value []byte) bool {
		switch string(key) {
		case "input_tokens":
			total = splice.Count(value)
		case "input_tokens_details":
			splice.Fields(value, func(key, value []byte) bool {
				switch string(key) {
				case "cached_tokens":
					read = splice.Count(value)
				case "cache_write_tokens":
					write = splice.Count(value)
				case "cache_write_tokens_details":
					readLifetimes(value, &next)
				}
				return true
			})
		case "output_tokens":
			next.OutputTotal = splice.Count(value)
		case "output_tokens_details":
			splice.Fields(value, func(key, value []byte) bool {
				if string(key) == "reasoning_tokens" {
					next.Reasoning = splice.Count(value)
				}
				return true
			})
		}
		return true
	})
	next.SetInput(total, read, write)
	*u = next
}

// readLifetimes reads the cache writes by lifetime.
func readLifetimes(split []byte, u *rewrite.Usage) {
	splice.Fields(split, func(key, value []byte) bool {
		switch string(key) {
		case "ttl_5m_tokens":
			u.CacheWrite5m = splice.Count(value)
		case "ttl_1h_tokens":
			u.CacheWrite1h = splice.Count(value)
		case "ttl_30m_tokens":
			u.CacheWrite30m = splice.Count(value)
		case "ttl_12h_tokens":
			u.CacheWrite12h = splice.Count(value)
		}
		return true
	})
}
