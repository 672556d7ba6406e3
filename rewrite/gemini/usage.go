package gemini

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readUsage folds a usage object into u. Frames repeat a running total, so a
// counter that is present overwrites and one that is absent keeps its value.
// The dialect counts the results of hosted tools beside the prompt and thoughts
// beside the candidates; both belong to the totals here.
func readUsage(usage []byte, u *rewrite.Usage) {
	if splice.Empty(usage) {
		return
	}
	prompt := less(u.InputTotal, u.ToolInput)
	candidates := less(u.OutputTotal, u.Reasoning)
	read := u.CacheRead
	splice.Fields(usage, func(key, value []byte) bool {
		switch string(key) {
		case "promptTokenCount":
			overwrite(&prompt, value)
		case "toolUsePromptTokenCount":
			overwrite(&u.ToolInput, value)
		case "cachedContentTokenCount":
			overwrite(&read, value)
		case "candidatesTokenCount":
			overwrite(&candidates, value)
		case "thoughtsTokenCount":
			overwrite(&u.Reasoning, value)
		}
		return true
	})
	u.SetInput(prompt.Plus(u.ToolInput), read, u.CacheWrite)
	u.OutputTotal = candidates.Plus(u.Reasoning)
}

// less takes a part out of a total that was read before.
func less(total, part rewrite.Count) rewrite.Count {
	return rewrite.Count{N: max(total.N-part.N, 0), Known: total.Known}
}

func overwrite(c *rewrite.Count, value []byte) {
	if n := splice.Count(value); n.Known {
		*c = n
	}
}
