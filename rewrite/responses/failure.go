package responses

import (
	"strconv"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// AppendError appends the HTTP body that the dialect's clients expect of an
// error with the failure's status. The request id has no place in it; it
// travels in a header.
func AppendError(dst []byte, f *rewrite.Failure, _ string) []byte {
	code := f.Code
	if code == "" {
		code = f.Reason.String()
	}
	return appendBody(dst, f.Reason.Status(), f.Message, f.Param, code)
}

// AppendFault appends the HTTP body for an error that a provider of another
// dialect has answered a request with. A code that it does not have is null.
func AppendFault(dst []byte, status int, f *rewrite.Fault) []byte {
	return appendBody(dst, status, f.Message, "", f.Code)
}

// appendBody appends the body of an error.
func appendBody(dst []byte, status int, message, param, code string) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = gjson.AppendJSONString(dst, message)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, errorType(status)...)
	dst = append(dst, `","param":`...)
	dst = appendOrNull(dst, param)
	dst = append(dst, `,"code":`...)
	return append(appendOrNull(dst, code), `}}`...)
}

func appendOrNull(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "null"...)
	}
	return gjson.AppendJSONString(dst, text)
}

// AppendStreamError appends the event that ends a stream in failure, numbered
// after the last one that r has read: response.failed for a response that has
// begun, and error for one that has no id yet, because clients bind a stream to
// its response's id.
func AppendStreamError(dst []byte, f *rewrite.Failure, r *rewrite.Report) []byte {
	if r.ID == "" {
		return appendErrorEvent(dst, f, r)
	}
	dst = append(dst, "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":"...)
	dst = strconv.AppendInt(dst, r.Sequence, 10)
	dst = append(dst, `,"response":{"id":`...)
	dst = gjson.AppendJSONString(dst, r.ID)
	dst = append(dst, `,"object":"response","created_at":`...)
	dst = strconv.AppendInt(dst, r.Created, 10)
	dst = append(dst, `,"status":"failed","model":`...)
	dst = gjson.AppendJSONString(dst, r.Model)
	dst = append(dst, `,"error":{"code":"server_error","message":`...)
	dst = gjson.AppendJSONString(dst, f.Message)
	return append(dst, "},\"incomplete_details\":null,\"output\":[],\"usage\":null}}\n\n"...)
}

// appendErrorEvent appends an error event.
func appendErrorEvent(dst []byte, f *rewrite.Failure, r *rewrite.Report) []byte {
	dst = append(dst, "event: error\ndata: {\"type\":\"error\",\"sequence_number\":"...)
	dst = strconv.AppendInt(dst, r.Sequence, 10)
	dst = append(dst, `,"code":"server_error","message":`...)
	dst = gjson.AppendJSONString(dst, f.Message)
	return append(dst, ",\"param\":null}\n\n"...)
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
