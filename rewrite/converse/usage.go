package converse

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readUsage folds a usage object into u. The dialect counts what the cache had,
// and what was written to it, apart from the rest of the input.
func readUsage(usage []byte, u *rewrite.Usage) {
	var details []byte
	if !splice.Fields(usage, func(name, value []byte) bool {
		switch string(name) {
		case "inputTokens":
			overwrite(&u.InputFresh, value)
		case "outputTokens":
			overwrite(&u.OutputTotal, value)
		case "cacheReadInputTokens", "cacheReadInputTokenCount":
			overwrite(&u.CacheRead, value)
		case "cacheWriteInputTokens", "cacheWriteInputTokenCount":
			overwrite(&u.CacheWrite, value)
		case "cacheDetails":
			details = value
		}
		return true
	}) {
		return
	}
	splice.Elements(details, func(detail []byte) bool {
		readDetail(detail, u)
		return true
	})
	u.InputTotal = u.InputFresh.Plus(u.CacheRead).Plus(u.CacheWrite)
}

// readDetail reads the cache writes of one lifetime.
func readDetail(detail []byte, u *rewrite.Usage) {
	var ttl string
	var tokens []byte
	splice.Fields(detail, func(name, value []byte) bool {
		switch string(name) {
		case "ttl":
			ttl = splice.Text(value)
		case "inputTokens":
			tokens = value
		}
		return true
	})
	switch ttl {
	case "5m":
		overwrite(&u.CacheWrite5m, tokens)
	case "1h":
		overwrite(&u.CacheWrite1h, tokens)
	}
}

func overwrite(c *rewrite.Count, value []byte) {
	if n := splice.Count(value); n.Known {
		*c = n
	}
}
