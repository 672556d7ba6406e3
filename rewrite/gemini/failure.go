package gemini

import (
	"strconv"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// AppendError appends the HTTP body that the dialect's clients expect of an
// error with the failure's status. The request id becomes one of the details;
// an empty one is left out.
func AppendError(dst []byte, f *rewrite.Failure, requestID string) []byte {
	dst = appendErrorOf(dst, f.Reason.Status(), f.Message)
	if requestID != "" {
		dst = append(dst, `,"details":[{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":`...)
		dst = gjson.AppendJSONString(dst, requestID)
		dst = append(dst, "}]"...)
	}
	return append(dst, "}}"...)
}

// AppendFault appends the HTTP body for an error that a provider of another
// dialect has answered a request with.
func AppendFault(dst []byte, status int, f *rewrite.Fault) []byte {
	return append(appendErrorOf(dst, status, f.Message), "}}"...)
}

// appendErrorOf appends an error document up to its closing braces.
func appendErrorOf(dst []byte, status int, message string) []byte {
	dst = append(dst, `{"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, `,"message":`...)
	dst = gjson.AppendJSONString(dst, message)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, statusWord(status)...)
	return append(dst, '"')
}

// AppendStreamError appends the frame that ends a stream in failure.
func AppendStreamError(dst []byte, f *rewrite.Failure, _ *rewrite.Report) []byte {
	dst = append(dst, "data: "...)
	dst = AppendError(dst, f, "")
	return append(dst, "\n\n"...)
}

// statusWord is the dialect's word for a status.
func statusWord(status int) string {
	switch status {
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 408, 504:
		return "DEADLINE_EXCEEDED"
	case 429:
		return "RESOURCE_EXHAUSTED"
	case 499:
		return "CANCELLED"
	case 500:
		return "INTERNAL"
	case 502, 503:
		return "UNAVAILABLE"
	}
	if status > 500 {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}
