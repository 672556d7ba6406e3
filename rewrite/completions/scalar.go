package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// reader reads what a provider has made, or a client on its behalf.
type reader struct{ provider string }

// formats are the beginning of this dialect's formats of payloads. The rest is
// the member that the value belongs to.
const formats = "chat/"

// payload keeps a value in the provider's own words.
func (r reader) payload(kind string, value []byte) rewrite.Payload {
	return rewrite.Payload{Provider: r.provider, Format: formats + kind, Value: value}
}

// written keeps a value in the client's own words, which any provider that speaks
// the dialect understands.
func written(kind string, value []byte) rewrite.Payload {
	return rewrite.Payload{Format: formats + kind, Value: value}
}

// textOf is a string, or nothing for null.
func textOf(value []byte) (string, *fault) {
	if splice.Null(value) {
		return "", nil
	}
	text, ok := splice.TextOf(value)
	if !ok {
		return "", bad("", "is no text; send a string, or leave it out")
	}
	return text, nil
}

// present is a value that is not null.
func present(value []byte) rewrite.JSON {
	if splice.Null(value) {
		return nil
	}
	return value
}

func switchOf(value []byte) rewrite.Switch {
	switch string(value) {
	case "true":
		return rewrite.On
	case "false":
		return rewrite.Off
	}
	return rewrite.Unset
}

// clone is memory that outlives the value that it is of.
func clone(value []byte) []byte { return append([]byte(nil), value...) }
