package anthropic

import (
	"bytes"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// What other providers made travels in the fields that clients of this dialect
// hand back unseen: the signature of a thought, the data of a redacted one, the
// index of a citation. A redacted thought with one of these endings holds the
// payload of the item that stands before or after it, or of the text before it.
const (
	ofBefore = ".last"
	ofAfter  = ".next"
	ofPart   = ".text"
)

// returns reports whether the payload of a call has to come back: some providers
// sign calls, for others there is nothing in it that the call does not say.
func returns(p *rewrite.Payload) bool {
	switch p.Format {
	case "responses/function_call", "responses/custom_tool_call":
		return false
	case "gemini/functionCall":
		return bytes.Contains(p.Value, []byte("ignature"))
	}
	return !p.Empty()
}

// dispensable reports whether a provider can do without a payload that stands
// behind its answer: it asks for the signatures of calls only, and reads no
// grounding.
func dispensable(p *rewrite.Payload) bool {
	return !p.Empty() && (isReasoning(p) || p.Format == "gemini/grounding" || p.Format == "gemini/url_context")
}

// plainReasoning is the format of the payload that signs reasoning of which
// there is nothing but the text.
const plainReasoning = "reasoning/plain"

// plainSign is the signature of such reasoning.
func plainSign() string {
	p := rewrite.Payload{Format: plainReasoning, Value: rewrite.JSON("null")}
	return p.Envelope()
}

// plainSource is the format of the payload that stands for a source of which
// there is nothing but what is said of it.
const plainSource = "attribution/plain"

// carried opens what a client hands back; to is the ending, if it has one.
func carried(text string) (p rewrite.Payload, to string, ok bool) {
	for _, ending := range []string{ofBefore, ofAfter, ofPart} {
		if rest, found := strings.CutSuffix(text, ending); found {
			p, ok = open(rest)
			return p, ending, ok
		}
	}
	p, ok = open(text)
	return p, "", ok
}

// open opens an envelope; ok is false for one that was changed on its way, too.
func open(text string) (p rewrite.Payload, ok bool) {
	p, ok = rewrite.OpenEnvelope(text)
	return p, ok && splice.Valid(p.Value) == nil
}

// isReasoning reports whether a payload is a thought, in the formats of all
// dialects.
func isReasoning(p *rewrite.Payload) bool {
	return strings.Contains(p.Format, "reasoning") || strings.Contains(p.Format, "thinking") || strings.Contains(p.Format, "thought")
}
