package gemini

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ofCandidate begins the names of the candidate's members that only clients of this
// dialect can read.
const ofCandidate = "candidate:"

// usageMembers are the members of a usage that the hub has fields for.
var usageMembers = []string{
	"promptTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount",
}

// writeOwn writes what was kept of a group.
func writeOwn(w *splice.Writer, extra []rewrite.Member, group string) {
	rewrite.Gemini.EachOwned(extra, group, func(name string, value rewrite.JSON) {
		if group != "" || name != "usageMetadata" {
			w.Value(name, value)
		}
	})
}
