package relay

import (
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// beyond reports a request in its provider's own dialect that asks for more than a
// reply says which was taken apart and put together anew: several answers, likelihoods
// of words, calls in a form of old, sound; or that may have no tools beside what it
// names. It goes out without tools of the gateway's, and its reply comes as it is.
func (x *exchange) beyond() bool {
	if x.translates() {
		return false
	}
	root := gjson.ParseBytes(x.asked)
	switch x.req.Dialect {
	case rewrite.Completions:
		return root.Get("n").Int() > 1 || root.Get("logprobs").Bool() || root.Get("functions.0").Exists() ||
			root.Get("audio").IsObject() || root.Get(`modalities.#(!="text")`).Exists()
	case rewrite.Responses:
		return root.Get("top_logprobs").Int() > 0 || root.Get(`include.#(=="message.output_text.logprobs")`).Exists()
	case rewrite.Gemini:
		if root.Get("generateContentRequest").IsObject() {
			root = root.Get("generateContentRequest")
		}
		form := either(root, "generationConfig", "generation_config")
		return either(form, "candidateCount", "candidate_count").Int() > 1 || either(form, "responseLogprobs", "response_logprobs").Bool() ||
			either(root, "cachedContent", "cached_content").String() != ""
	}
	return false
}

// either is a member that may be written in two ways.
func either(at gjson.Result, name, other string) gjson.Result {
	if value := at.Get(name); value.Exists() {
		return value
	}
	return at.Get(other)
}
