package completions

import (
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// AppendError appends the HTTP body that the dialect's clients expect of an
// error with the failure's status. The request id has no place in it; it
// travels in a header.
func AppendError(dst []byte, f *rewrite.Failure, _ string) []byte {
	return AppendFault(dst, f.Reason.Status(), &rewrite.Fault{Code: f.Reason.String(), Message: f.Message})
}

// AppendFault appends the HTTP body for an error that a provider of another
// dialect has answered a request with. A code that it does not have is null.
func AppendFault(dst []byte, status int, f *rewrite.Fault) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = gjson.AppendJSONString(dst, f.Message)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, errorType(status)...)
	dst = append(dst, `","param":null,"code":`...)
	if f.Code == "" {
		return append(dst, `null}}`...)
	}
	return append(gjson.AppendJSONString(dst, f.Code), `}}`...)
}

// AppendStreamError appends the chunk that ends a stream in failure. No [DONE]
// follows, because the reply is not done.
func AppendStreamError(dst []byte, f *rewrite.Failure, _ *rewrite.Report) []byte {
	dst = append(dst, "data: "...)
	dst = AppendError(dst, f, "")
	return append(dst, "\n\n"...)
}

// errorType is the dialect's word for a status.
func errorType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 429:
		return "rate_limit_error"
	}
	if status >= 500 {
		return "server_error"
	}
	return "invalid_request_error"
}
