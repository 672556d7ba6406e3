package anthropic

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readUsage folds a usage object into u. In a stream the counters are
// cumulative: one that is present overwrites, one that is absent or null keeps
// what an earlier event said. Where the steps of the call are listed they are
// what is billed, and the sums beside them leave some steps out.
func readUsage(usage []byte, u *rewrite.Usage) {
	var iterations []byte
	if !splice.Fields(usage, func(key, value []byte) bool {
		if string(key) == "iterations" {
			iterations = value
		}
		readCounter(key, value, u)
		return true
	}) {
		return
	}
	readIterations(iterations, u)
	u.InputTotal = u.InputFresh.Plus(u.CacheRead).Plus(u.CacheWrite)
}

// readCounter sets the counter that a member of a usage object or of a step
// names.
func readCounter(key, value []byte, u *rewrite.Usage) {
	switch string(key) {
	case "input_tokens":
		overwrite(&u.InputFresh, value)
	case "cache_read_input_tokens":
		overwrite(&u.CacheRead, value)
	case "cache_creation_input_tokens":
		overwrite(&u.CacheWrite, value)
	case "output_tokens":
		overwrite(&u.OutputTotal, value)
	case "cache_creation":
		readLifetimes(value, u)
	case "output_tokens_details":
		splice.Fields(value, func(key, value []byte) bool {
			if string(key) == "thinking_tokens" {
				overwrite(&u.Reasoning, value)
			}
			return true
		})
	}
}

// readLifetimes reads the cache writes by lifetime; their sum stands in for a
// total that was never given.
func readLifetimes(split []byte, u *rewrite.Usage) {
	splice.Fields(split, func(key, value []byte) bool {
		switch string(key) {
		case "ephemeral_5m_input_tokens":
			overwrite(&u.CacheWrite5m, value)
		case "ephemeral_1h_input_tokens":
			overwrite(&u.CacheWrite1h, value)
		}
		return true
	})
	if !u.CacheWrite.Known {
		u.CacheWrite = u.CacheWrite5m.Plus(u.CacheWrite1h)
	}
}

// readIterations replaces the counters by the sums over the listed steps, and
// takes the context size from the last step that was a message.
func readIterations(iterations []byte, u *rewrite.Usage) {
	if splice.Empty(iterations) {
		return
	}
	var sum rewrite.Usage
	steps := 0
	var model []byte
	splice.Elements(iterations, func(step []byte) bool {
		var one rewrite.Usage
		var message bool
		splice.Fields(step, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				message = string(value) == `"message"`
			case "model":
				u.Mixed = u.Mixed || model != nil && !bytes.Equal(model, value)
				model = value
			}
			readCounter(key, value, &one)
			return true
		})
		prompt := one.InputFresh.Plus(one.CacheRead).Plus(one.CacheWrite)
		if message {
			u.Context = prompt
		}
		add(&sum, one)
		steps++
		return true
	})
	if steps == 0 {
		return
	}
	replace(&u.InputFresh, sum.InputFresh)
	replace(&u.CacheRead, sum.CacheRead)
	replace(&u.CacheWrite, sum.CacheWrite)
	replace(&u.CacheWrite5m, sum.CacheWrite5m)
	replace(&u.CacheWrite1h, sum.CacheWrite1h)
	replace(&u.OutputTotal, sum.OutputTotal)
	replace(&u.Reasoning, sum.Reasoning)
}

// add adds the counters of one step to the sum.
func add(sum *rewrite.Usage, step rewrite.Usage) {
	sum.InputFresh = sum.InputFresh.Plus(step.InputFresh)
	sum.CacheRead = sum.CacheRead.Plus(step.CacheRead)
	sum.CacheWrite = sum.CacheWrite.Plus(step.CacheWrite)
	sum.CacheWrite5m = sum.CacheWrite5m.Plus(step.CacheWrite5m)
	sum.CacheWrite1h = sum.CacheWrite1h.Plus(step.CacheWrite1h)
	sum.OutputTotal = sum.OutputTotal.Plus(step.OutputTotal)
	sum.Reasoning = sum.Reasoning.Plus(step.Reasoning)
}

func overwrite(c *rewrite.Count, value []byte) { replace(c, splice.Count(value)) }

// replace sets c unless the new count is unknown.
func replace(c *rewrite.Count, with rewrite.Count) {
	if with.Known {
		*c = with
	}
}
