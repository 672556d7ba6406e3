package converse

import (
	"encoding/binary"

	"warmpath/rewrite/splice"
	"warmpath/rewrite/sse"
)

// sizes are those of header values by their kind; sized ones begin with their
// length in two bytes.
var sizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, kindBytes: sized, kindString: sized, 8: 8, 9: 16}

const (
	sized      = -1
	kindBytes  = 6
	kindString = 7
)

// readFrame makes an event of a frame's headers and payload. Ok is false if the
// headers cannot be read, and known if there is no event in them.
func readFrame(headers, payload []byte) (e sse.Event, ok, known bool) {
	var message, event, exception, code, text []byte
	ok = eachHeader(headers, func(name, value []byte) {
		switch string(name) {
		case ":message-type":
			message = value
		case ":event-type":
			event = value
		case ":exception-type":
			exception = value
		case ":error-code":
			code = value
		case ":error-message":
			text = value
		}
	})
	switch string(message) {
	case "event":
		return sse.Event{Name: event, Data: payload}, ok, len(event) > 0
	case "exception":
		return sse.Event{Name: exception, Data: payload}, ok, len(exception) > 0
	case "error":
		w := splice.WriteTo(nil)
		w.Open('{')
		w.Text("code", string(code))
		w.Text("message", string(text))
		w.Close('}')
		return sse.Event{Name: []byte(inBandError), Data: w.Bytes()}, ok, true
	}
	return sse.Event{}, ok, false
}

// inBandError is the name of an event that the service reports a fault with which
// is none of its modelled exceptions.
const inBandError = "error"

// eachHeader yields the headers that are strings, and reports whether all of them
// can be read.
func eachHeader(b []byte, yield func(name, value []byte)) bool {
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < n+2 || n == 0 || int(b[n+1]) >= len(sizes) {
			return false
		}
		name, kind := b[1:n+1], b[n+1]
		b = b[n+2:]
		size := sizes[kind]
		if size == sized {
			if len(b) < 2 {
				return false
			}
			size, b = int(binary.BigEndian.Uint16(b)), b[2:]
		}
		if len(b) < size {
			return false
		}
		if kind == kindString {
			yield(name, b[:size])
		}
		b = b[size:]
	}
	return true
}
