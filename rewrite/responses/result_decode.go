package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// result reads what a client's tool gave.
func (r reader) result(kind string, value []byte, i *itemFields, item rewrite.Item) (rewrite.Item, *fault) {
	item.Kind = rewrite.ItemResult
	item.Call = rewrite.Call{
		ID: splice.Text(i.callID), Name: splice.Text(i.name), Namespace: splice.Text(i.namespace),
		Custom: kind == "custom_tool_call_output",
	}
	var f *fault
	if item.Parts, f = r.parts(i.at, "output", i.output); f != nil {
		return item, f.in("output")
	}
	if i.other && !hasBlocks(i.output) {
		item.Payload = written(kind, value)
	}
	return item, nil
}

// hasBlocks says that a result has blocks as the tools of the Model Context
// Protocol give them, which no provider takes.
func hasBlocks(output []byte) bool {
	found := false
	splice.Elements(output, func(block []byte) bool {
		splice.Fields(block, func(key, value []byte) bool {
			if string(key) == "type" {
				switch splice.Text(value) {
				case "text", "image", "audio", "resource", "resource_link":
					found = true
				}
			}
			return !found
		})
		return !found
	})
	return found
}

// hasBlocksWithin says that one of the results in a history has them.
func hasBlocksWithin(input []byte) bool {
	found := false
	splice.Elements(input, func(item []byte) bool {
		var output []byte
		splice.Fields(item, func(key, value []byte) bool {
			if string(key) == "output" && len(value) > 0 && value[0] == '[' {
				output = value
			}
			return true
		})
		found = output != nil && hasBlocks(output)
		return !found
	})
	return found
}
