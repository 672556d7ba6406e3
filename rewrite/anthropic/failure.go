package anthropic

import (
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// AppendError appends the HTTP body that the dialect's clients expect of an
// error with the failure's status. An empty requestID is left out.
func AppendError(dst []byte, f *rewrite.Failure, requestID string) []byte {
	dst = appendFailure(dst, f)
	if requestID != "" {
		dst = append(dst, `,"request_id":`...)
		dst = gjson.AppendJSONString(dst, requestID)
	}
	return append(dst, '}')
}

// AppendFault appends the HTTP body for an error that a provider of another
// dialect has answered a request with.
func AppendFault(dst []byte, status int, f *rewrite.Fault) []byte {
	return append(appendErrorOf(dst, status, f.Message, ""), '}')
}

// AppendStreamError appends the event that ends a stream in failure.
func AppendStreamError(dst []byte, f *rewrite.Failure, _ *rewrite.Report) []byte {
	dst = append(dst, "event: error\ndata: "...)
	dst = appendFailure(dst, f)
	return append(dst, "}\n\n"...)
}

// appendFailure appends an error document up to its closing brace.
func appendFailure(dst []byte, f *rewrite.Failure) []byte {
	return appendErrorOf(dst, f.Reason.Status(), f.Message, f.Code)
}

func appendErrorOf(dst []byte, status int, message, code string) []byte {
	dst = append(dst, `{"type":"error","error":{"type":"`...)
	dst = append(dst, errorType(status)...)
	dst = append(dst, `","message":`...)
	dst = gjson.AppendJSONString(dst, message)
	if code != "" {
		dst = append(dst, `,"details":{"error_code":`...)
		dst = append(gjson.AppendJSONString(dst, code), '}')
	}
	return append(dst, '}')
}

// errorType is the dialect's word for a status. The dialect has a status of its
// own, 529, for what others call 503, and clients wait longer on its word.
func errorType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 408, 504:
		return "timeout_error"
	case 409:
		return "conflict_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 503, 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}
