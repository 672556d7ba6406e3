package relay

import (
	"bytes"
	"time"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/sse"
)

// openingPatience is how long the first event of a stream is waited for before its
// head is believed.
const openingPatience = time.Second

// opens looks at how a stream of Bedrock's begins. It may be nothing but an error,
// which then is what the request was answered with: it can be tried again, or
// elsewhere, and the client hears of it by its status.
func (x *exchange) opens(resp *upstream.Response) {
	if x.speaks != rewrite.Converse || resp.Status != 200 || !bytes.HasPrefix(resp.Header("content-type"), []byte(binaryStream)) {
		return
	}
	var frames converse.Splitter
	var refusal []byte
	status, begun := 0, false
	look := func(e sse.Event) {
		if !begun {
			begun, status = true, converse.StatusOf(e.Name)
			refusal = bytes.Clone(e.Data)
		}
	}
	x.ahead = nil
	for !begun && frames.Err() == nil && len(x.ahead) <= maxRefusal {
		chunk, err := resp.Next(openingPatience)
		x.ahead = append(x.ahead, chunk...)
		frames.Feed(chunk, look)
		if err != nil {
			break // which is met again where the stream is read
		}
	}
	if status != 0 {
		resp.Status, x.ahead = status, refusal
	}
}
