package mcp

import (
	"bytes"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite/splice"
)

// The protocol's library decodes what servers send, and what it has no field for is
// gone: the order of a schema's members, an audience that is a string, the media
// type of a text; and a block of a kind that it does not know fails the whole
// result. So each message is looked at before the library reads it: the result of a
// tool, of a list of tools and of a resource travels through the library as a string
// in the result's metadata, and nothing but what the library needs stays beside it.
const (
	// rawKey is the member of a result's metadata that has the result.
	rawKey = "warmpath/result"
	// callKey is the member of a request's metadata that names the call in whose
	// reply a server's own request stands. The servers are told it too.
	callKey = "warmpath/call"
	// paramsKey is the member of a request's metadata that has its parameters.
	paramsKey = "warmpath/params"

	methodElicit = "elicitation/create"
)

// kept is a message as the library is to read it. The call is that in whose reply it
// stands, empty if nothing is known of that. What is no message stays as it is.
func kept(message []byte, call string) []byte {
	message = bytes.TrimSpace(message)
	if len(message) > 0 && message[0] == '[' {
		var w splice.Writer
		w.Open('[')
		if !splice.Elements(message, func(element []byte) bool { w.Raw(kept(element, call)); return true }) {
			return message
		}
		w.Close(']')
		return w.Bytes()
	}
	var w splice.Writer
	changed, asks := false, gjson.GetBytes(message, "method").Str == methodElicit
	w.Open('{')
	whole := splice.Fields(message, func(key, value []byte) bool {
		name := string(key)
		switch {
		case name == "result" && bearing(value):
			value, changed = keptResult(value), true
		case name == "params" && asks:
			value, changed = keptParams(value, call), true
		}
		w.Name(name)
		w.Raw(value)
		return true
	})
	w.Close('}')
	if !whole || !changed {
		return message
	}
	return w.Bytes()
}

// bearing reports whether a result is of one of the kinds that are kept.
func bearing(result []byte) bool {
	found := false
	splice.Fields(result, func(key, value []byte) bool {
		switch string(key) {
		case "content", "contents", "tools":
			found = len(value) > 0 && (value[0] == '[' || value[0] == '{')
		case "structuredContent", "inputRequests", "requestState":
			found = true
		}
		return !found
	})
	return found
}

func keptResult(result []byte) []byte {
	var w splice.Writer
	w.Open('{')
	w.Name("_meta")
	w.Open('{')
	w.Name(rawKey)
	w.Bytestring(result)
	w.Close('}')
	splice.Fields(result, func(key, value []byte) bool {
		switch name := string(key); name {
		case "content", "contents":
			w.Name(name)
			w.Literal("[]")
		case "tools":
			w.Name(name)
			w.Raw(headOfTools(value))
		case "isError", "resultType", "nextCursor", "ttlMs", "cacheScope":
			w.Name(name)
			w.Raw(value)
		}
		return true
	})
	w.Close('}')
	return w.Bytes()
}

// headOfTools is what the library itself needs to know of tools: which arguments go
// into headers.
func headOfTools(tools []byte) []byte {
	var w splice.Writer
	w.Open('[')
	splice.Elements(tools, func(tool []byte) bool {
		name, schema := gjson.GetBytes(tool, "name"), gjson.GetBytes(tool, "inputSchema")
		if name.Type == gjson.String && schema.IsObject() {
			w.Open('{')
			w.Name("name")
			w.Raw([]byte(name.Raw))
			w.Name("inputSchema")
			w.Raw([]byte(schema.Raw))
			w.Close('}')
		}
		return true
	})
	w.Close(']')
	return w.Bytes()
}

// keptParams are a request's parameters with the call that it stands in, and with no
// other: a server does not say for whom it asks.
func keptParams(params []byte, call string) []byte {
	var w splice.Writer
	w.Open('{')
	w.Name("_meta")
	w.Open('{')
	w.Text(callKey, call)
	w.Text(paramsKey, string(params))
	splice.Fields([]byte(gjson.GetBytes(params, "_meta").Raw), func(key, value []byte) bool {
		if name := string(key); name != callKey && name != paramsKey {
			w.Name(name)
			w.Raw(value)
		}
		return true
	})
	w.Close('}')
	splice.Fields(params, func(key, value []byte) bool {
		if name := string(key); name != "_meta" {
			w.Name(name)
			w.Raw(value)
		}
		return true
	})
	w.Close('}')
	return w.Bytes()
}

// rawOf is the result that travelled in metadata; nothing if it did not.
func rawOf(meta protocol.Meta) []byte {
	text, _ := meta[rawKey].(string)
	return []byte(text)
}
