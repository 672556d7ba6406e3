package responses

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// reader reads what a provider has made, or a client on its behalf.
type reader struct{ provider string }

// formats are the beginning of this dialect's formats of payloads.
const formats = "responses/"

// payload keeps a value in the provider's own words.
func (r reader) payload(kind string, value []byte) rewrite.Payload {
	return rewrite.Payload{Provider: r.provider, Format: formats + kind, Value: value}
}

// written keeps a value in the client's own words, which any provider that speaks
// the dialect understands.
func written(kind string, value []byte) rewrite.Payload {
	return rewrite.Payload{Format: formats + kind, Value: value}
}

// ownMark begins the names of what this dialect has of our own.
const ownMark = "warmpath:"

func isOwn(name string) bool { return strings.HasPrefix(name, ownMark) }

// madeHere is in the names of items that no provider has made.
const madeHere = "_wp_"

// idOf is a name that a provider has given; empty for one that was made here.
func idOf(value []byte) string {
	if id := splice.Text(value); !strings.Contains(id, madeHere) {
		return id
	}
	return ""
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
