package gemini

import "warmpath/rewrite"

// words are this dialect's members for the settings of the hub, and for members
// of its items, where the words differ.
var words = map[string]string{
	"max_tokens": generationConfig + ".maxOutputTokens", "temperature": generationConfig + ".temperature",
	"top_p": generationConfig + ".topP", "top_k": generationConfig + ".topK", "seed": generationConfig + ".seed",
	"presence_penalty":  generationConfig + ".presencePenalty",
	"frequency_penalty": generationConfig + ".frequencyPenalty",
	"stop":              generationConfig + ".stopSequences", "candidates": generationConfig + ".candidateCount",
	"logprobs": generationConfig + ".responseLogprobs", "top_logprobs": generationConfig + ".logprobs",
	"effort": generationConfig + ".thinkingConfig.thinkingLevel", "thinking": generationConfig + ".thinkingConfig",
	"thinking.budget": generationConfig + ".thinkingConfig.thinkingBudget",
	"summary":         generationConfig + ".thinkingConfig.includeThoughts",
	"format":          generationConfig + ".responseJsonSchema",
	"format.json":     generationConfig + ".responseMimeType",
	"tool_choice":     "toolConfig.functionCallingConfig", "service_tier": "serviceTier",
	"tool_choice.allowed": "toolConfig.functionCallingConfig.allowedFunctionNames",
	"item.arguments":      "functionCall.args",
}

// MemberOf is what a client's request calls a setting of the hub.
func MemberOf(c *rewrite.Conversation, setting string) string {
	switch {
	case setting == "format" && c.Format.Kind == "json":
		return generationConfig + ".responseMimeType"
	case setting == "format" && c.HasExtra(rewrite.Gemini, generationConfig+".responseSchema"):
		return generationConfig + ".responseSchema"
	}
	if word := words[setting]; word != "" {
		return word
	}
	return setting
}
