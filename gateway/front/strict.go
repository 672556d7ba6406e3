package front

import (
	"bytes"
	"iter"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// suspicious finds what two servers in a row might read differently: the stuff
// of request smuggling and of filters that are walked around. The parser has
// refused the rest before.
func suspicious(ctx *fasthttp.RequestCtx) *rewrite.Failure {
	header := &ctx.Request.Header
	switch string(header.Method()) {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default:
		return &rewrite.Failure{Reason: rewrite.ReasonMethod,
			Message: "This method is not served here. Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS."}
	}
	uri := header.RequestURI()
	if len(uri) == 0 || uri[0] != '/' {
		return refused("The request target must be a path. This is no forward proxy: set its address as the base URL instead.")
	}
	if dotted(uri) {
		return refused("The path holds . or .. segments. Write the path out.")
	}
	if bytes.IndexByte(uri, '#') >= 0 || bytes.IndexByte(uri, '\\') >= 0 {
		return refused("The request target holds # or a backslash. Escape it.")
	}
	return framing(header.RawHeaders())
}

func refused(message string) *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: message}
}

// dotted reports . and .. segments, escaped or not, in the path of a target. An
// escaped separator is one too: it may be none to us and yet be one behind us.
func dotted(target []byte) bool {
	path, _, _ := bytes.Cut(target, []byte("?"))
	if bytes.IndexByte(path, '.') < 0 && bytes.IndexByte(path, '%') < 0 {
		return false
	}
	for _, escape := range []struct{ from, to string }{
		{"%2e", "."}, {"%2E", "."}, {"%2f", "/"}, {"%2F", "/"}, {"%5c", "/"}, {"%5C", "/"},
	} {
		path = bytes.ReplaceAll(path, []byte(escape.from), []byte(escape.to))
	}
	for segment := range bytes.SplitSeq(path, []byte("/")) {
		if string(segment) == "." || string(segment) == ".." {
			return true
		}
	}
	return false
}

// framing refuses header blocks that are not clear about where the body ends.
func framing(raw []byte) *rewrite.Failure {
	lengths, encodings := 0, 0
	for line := range lines(raw) {
		switch line[0] {
		case ' ', '\t':
			return refused("A header line is folded over several lines. Send each header in one line.")
		case 'c', 'C':
			lengths += named(line, "content-length")
		case 't', 'T':
			if named(line, "transfer-encoding") == 0 {
				continue
			}
			if _, value, _ := bytes.Cut(line, []byte(":")); !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return refused("The request has a Transfer-Encoding other than chunked.")
			}
			encodings++
		}
	}
	switch {
	case lengths > 1:
		return refused("The request has more than one Content-Length.")
	case lengths > 0 && encodings > 0:
		return refused("The request has both Content-Length and Transfer-Encoding.")
	case encodings > 1:
		return refused("The request has more than one Transfer-Encoding.")
	}
	return nil
}

func named(line []byte, lower string) int {
	if len(line) > len(lower) && line[len(lower)] == ':' && upstream.EqualFold(line[:len(lower)], lower) {
		return 1
	}
	return 0
}

// lines yields the header lines without their ends.
func lines(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(raw) > 0 {
			line, rest, _ := bytes.Cut(raw, []byte("\n"))
			raw = rest
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}

// appendFields reads the header block as it stands on the wire: order, spelling
// and repetitions are the client's. The fields share the block's memory.
func appendFields(dst []upstream.Field, raw []byte) []upstream.Field {
	for line := range lines(raw) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok {
			dst = append(dst, upstream.Field{Name: name, Value: bytes.Trim(value, " \t")})
		}
	}
	return dst
}
