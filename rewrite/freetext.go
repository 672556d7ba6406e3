package rewrite

import "encoding/json"

// FreeTextSchema is what a tool that is called with free text is declared with
// where tools are called with JSON only: an object that holds the text.
const FreeTextSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// WrapFreeText gives the arguments that fit FreeTextSchema.
func WrapFreeText(text []byte) JSON {
	quoted, err := json.Marshal(string(text))
	if err != nil {
		panic("BUG: a string that is no JSON: " + err.Error())
	}
	return JSON(`{"input":` + string(quoted) + `}`)
}

// UnwrapFreeText is the inverse of WrapFreeText; ok is false for arguments that
// hold no text, or more than that.
func UnwrapFreeText(arguments JSON) (text string, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) != nil || len(members) != 1 {
		return "", false
	}
	input := members["input"]
	if len(input) == 0 || input[0] != '"' || json.Unmarshal(input, &text) != nil {
		return "", false
	}
	return text, true
}
