package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// counters are the numbers of a usage object under the names that the servers
// of this dialect have for them.
type counters struct {
	prompt, completion, total rewrite.Count
	// Read from the cache: the provider's own spelling, the one in the details
	// that some fill with a constant zero, and the rest.
	read, readDetail, readOther rewrite.Count
	// miss is the prompt less what was read.
	miss rewrite.Count

	write, write5m, write30m, write1h, write12h rewrite.Count
	reasoning, reasoningTop                     rewrite.Count
}

// readUsage replaces usage by what the chunk reports: servers that report more
// than once report a running total. Cache counters that the chunk leaves out
// keep their value, since some servers send them apart.
func (d *document) readUsage(u *rewrite.Usage) {
	object := d.usage
	if splice.Empty(object) {
		object = groqUsage(d.groq)
	}
	if splice.Empty(object) && splice.Empty(d.timings) {
		return
	}
	var c counters
	splice.Fields(object, c.set)
	splice.Fields(d.timings, c.setTiming)
	c.apply(u)
}

// groqUsage finds the usage that Groq puts into the last chunk of a stream.
func groqUsage(groq []byte) (usage []byte) {
	if splice.Null(groq) {
		return nil
	}
	splice.Fields(groq, func(key, value []byte) bool {
		if string(key) == "usage" {
			usage = value
		}
		return true
	})
	return usage
}

// set stores one member of a usage object.
func (c *counters) set(key, value []byte) bool {
	switch string(key) {
	case "prompt_tokens":
		c.prompt = splice.Count(value)
	case "completion_tokens":
		c.completion = splice.Count(value)
	case "total_tokens":
		c.total = splice.Count(value)
	case "prompt_tokens_details":
		splice.Fields(value, c.setPrompt)
	case "prompt_token_details":
		splice.Fields(value, func(key, value []byte) bool {
			if string(key) == "cached_tokens" {
				c.readOther = splice.Count(value)
			}
			return true
		})
	case "completion_tokens_details":
		splice.Fields(value, func(key, value []byte) bool {
			if string(key) == "reasoning_tokens" {
				c.reasoning = splice.Count(value)
			}
			return true
		})
	case "prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens", "cache_read_input_tokens":
		c.read = either(splice.Count(value), c.read)
	case "prompt_cache_miss_tokens":
		c.miss = splice.Count(value)
	case "cache_creation_input_tokens":
		c.write = either(c.write, splice.Count(value))
	case "reasoning_tokens":
		c.reasoningTop = splice.Count(value)
	}
	return true
}

// setPrompt stores one member of the details of the prompt.
func (c *counters) setPrompt(key, value []byte) bool {
	switch string(key) {
	case "cached_tokens":
		c.readDetail = splice.Count(value)
	case "cache_write_tokens", "cache_creation_input_tokens":
		c.write = either(splice.Count(value), c.write)
	case "cache_write_tokens_details", "cache_creation":
		splice.Fields(value, c.setLifetime)
	}
	return true
}

// setLifetime stores the cache writes of one lifetime.
func (c *counters) setLifetime(key, value []byte) bool {
	switch string(key) {
	case "ephemeral_5m_input_tokens", "ttl_5m_tokens":
		c.write5m = splice.Count(value)
	case "ttl_30m_tokens":
		c.write30m = splice.Count(value)
	case "ephemeral_1h_input_tokens", "ttl_1h_tokens":
		c.write1h = splice.Count(value)
	case "ttl_12h_tokens":
		c.write12h = splice.Count(value)
	}
	return true
}

// setTiming stores one member of what llama.cpp reports beside the usage, or
// instead of it. The usage comes first and is kept.
func (c *counters) setTiming(key, value []byte) bool {
	switch string(key) {
	case "cache_n":
		c.readOther = either(c.readOther, splice.Count(value))
	case "prompt_n":
		c.miss = either(c.miss, splice.Count(value))
	case "predicted_n":
		c.completion = either(c.completion, splice.Count(value))
	}
	return true
}

// apply puts the counters into the arithmetic that all dialects share.
func (c *counters) apply(u *rewrite.Usage) {
	read := either(c.read, either(c.readDetail, either(c.readOther, u.CacheRead)))
	write := either(c.write, u.CacheWrite)
	prompt := c.prompt
	if !prompt.Known && c.miss.Known {
		prompt = c.miss.Plus(read)
	}
	if part := read.N + write.N; part > 0 && c.total.Known && c.total.N == prompt.N+part+c.completion.N {
		// The sum shows that the prompt excludes what the cache took part in.
		prompt = prompt.Plus(read).Plus(write)
	}
	u.SetInput(prompt, read, write)
	u.CacheWrite5m = either(c.write5m, u.CacheWrite5m)
	u.CacheWrite30m = either(c.write30m, u.CacheWrite30m)
	u.CacheWrite1h = either(c.write1h, u.CacheWrite1h)
	u.CacheWrite12h = either(c.write12h, u.CacheWrite12h)
	u.Reasoning = either(c.reasoning, either(c.reasoningTop, u.Reasoning))
	u.OutputTotal = either(c.output(u.Reasoning), u.OutputTotal)
}

// output is the completion with its reasoning. Some count the reasoning outside
// the completion, which shows in the sum or in a part larger than the whole.
func (c *counters) output(reasoning rewrite.Count) rewrite.Count {
	if !c.completion.Known || reasoning.N == 0 {
		return c.completion
	}
	outside := c.prompt.Known && c.total.Known && c.total.N == c.prompt.N+c.completion.N+reasoning.N
	if outside || reasoning.N > c.completion.N {
		return c.completion.Plus(reasoning)
	}
	return c.completion
}

// either is the first count if it is known, else the second.
func either(first, second rewrite.Count) rewrite.Count {
	if first.Known {
		return first
	}
	return second
}
