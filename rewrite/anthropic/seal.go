package anthropic

import (
	"bytes"

	"warmpath/rewrite/splice"
)

// Seals are the strings of a whole reply that only the provider can have made,
// as they stand in it: identifiers of calls, signatures, encrypted blocks. A
// conversation that holds one of them is the one that got the reply.
func Seals(reply []byte) (seals [][]byte) {
	splice.Fields(reply, func(name, value []byte) bool {
		if string(name) == "content" {
			splice.Elements(value, func(block []byte) bool {
				seals = appendSeals(seals, block)
				return true
			})
		}
		return true
	})
	return seals
}

// EventSeals are those that an event of a stream brings. Most bring none, and
// cost a look at their names.
func EventSeals(name, data []byte) [][]byte {
	if len(name) == 0 {
		name = kindOf(data)
	}
	var within string
	switch string(name) {
	case "content_block_start":
		within = "content_block"
	case "content_block_delta":
		// Text is not looked through: a delta that holds a seal is of no other
		// kind, and says so at its beginning.
		if head := data[:min(len(data), 128)]; !bytes.Contains(head, []byte("signature_delta")) && !bytes.Contains(head, []byte("compaction_delta")) {
			return nil
		}
		within = "delta"
	default:
		return nil
	}
	part, ok := whole(data, within)
	if !ok {
		return nil
	}
	return appendSeals(nil, part)
}

// appendSeals adds those of one block or delta.
func appendSeals(seals [][]byte, block []byte) [][]byte {
	splice.Fields(block, func(name, value []byte) bool {
		switch string(name) {
		case "id", "signature", "encrypted_content", "data":
			if issued(value) {
				seals = append(seals, value)
			}
		}
		return true
	})
	return seals
}
