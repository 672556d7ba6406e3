package converse

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ReadEvent reads one event of a stream, as Splitter finds them. A delta costs a
// look at its name; data that is not a complete JSON object changes nothing.
func ReadEvent(name, data []byte, r *rewrite.Report) {
	switch string(name) {
	case "contentBlockDelta":
		if r.Output = true; cites(data) {
			readCited(data, r)
		}
	case "contentBlockStart":
		_, start, ok := atIndex(data, "start")
		kind, value := only(start)
		if r.Output = r.Output || ok; ok && (kind == kindCall || kind == kindResult) {
			readTool(kind, value, r)
		}
	case "contentBlockStop":
		if r.Activity != nil {
			if _, _, ok := atIndex(data, ""); ok {
				r.Said()
			}
		}
	case "messageStop":
		if splice.Fields(data, func(name, value []byte) bool {
			if string(name) == "stopReason" {
				readStop(value, r)
			}
			return true
		}) {
			r.Ended = true
			r.Said()
		}
	case "metadata":
		splice.Fields(data, func(name, value []byte) bool {
			switch string(name) {
			case "usage":
				readUsage(value, &r.Usage)
			case "serviceTier":
				r.Terms |= tierOf(value)
			}
			return true
		})
	case inBandError:
		f := faultOf(name, data)
		readFailure([]byte(f.Type), r)
	default:
		if isException(name) {
			readFailure(name, r)
		}
	}
}

// isException reports whether an event is an error of the provider's.
func isException(name []byte) bool {
	return bytes.HasSuffix(name, []byte("Exception")) || string(name) == inBandError
}

// faultOf is the error that an event tells of.
func faultOf(name, data []byte) (f rewrite.Fault) {
	f.Type = string(name)
	splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "message", "Message":
			f.Message = splice.Text(value)
		case "originalMessage":
			if f.Message == "" {
				f.Message = splice.Text(value)
			}
		case "code":
			if code := splice.Text(value); code != "" && string(name) == inBandError {
				f.Type = code
			}
		}
		return true
	})
	return f
}

// atIndex gives the index of an event's block and one other member.
func atIndex(data []byte, name string) (at int64, member []byte, ok bool) {
	known := false
	ok = splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "contentBlockIndex":
			at, known = splice.Int(value)
		case name:
			member = value
		}
		return true
	})
	return at, member, ok && known
}

// statuses are those of the errors that have one of their own.
var statuses = map[string]int{
	"validationexception": 400, "servicequotaexceededexception": 400, "accessdeniedexception": 403, "resourcenotfoundexception": 404,
	"modeltimeoutexception": 408, "modelerrorexception": 424, "modelstreamerrorexception": 424,
	"throttlingexception": 429, "modelnotreadyexception": 429, "serviceunavailableexception": 503,
}

// StatusOf is the status of an error that a stream tells of as an event; zero for
// other events.
func StatusOf(name []byte) int {
	if !isException(name) {
		return 0
	}
	if status := statuses[string(bytes.ToLower(name))]; status != 0 {
		return status
	}
	return 500
}
