package upstream

import (
	"bytes"
	"fmt"
)

// Field is one header line. Name keeps the spelling of whoever sent it.
type Field struct{ Name, Value []byte }

// Is reports whether the field's name is the given lower-case name.
func (f Field) Is(lower string) bool { return EqualFold(f.Name, lower) }

// EqualFold compares a header name with a lower-case ASCII name, ignoring case
// and without allocating.
func EqualFold(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i := range name {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Request is one HTTP request to a provider. The client only reads it, so that
// the same Request can be sent again.
type Request struct {
	// Origin is scheme and authority: "https://api.example.com".
	Origin string
	Method string
	// Target is the origin-form request target, escaped as it is to be sent.
	Target []byte
	// Fields are sent in order. Host, Content-Length, Connection and
	// Transfer-Encoding are the client's own business and must not be among them.
	Fields []Field
	Body   []byte
}

// bodyless methods send no Content-Length when there is no body.
func (r *Request) bodyless() bool {
	return len(r.Body) == 0 && (r.Method == "GET" || r.Method == "HEAD" || r.Method == "DELETE" || r.Method == "OPTIONS")
}

// appendHead writes the request line and the header block.
func (r *Request) appendHead(dst []byte, host string) ([]byte, error) {
	if bytes.ContainsAny(r.Target, " \r\n") || len(r.Target) == 0 || r.Target[0] != '/' {
		return dst, fmt.Errorf("request target %q is not an absolute path", r.Target)
	}
	dst = append(dst, r.Method...)
	dst = append(dst, ' ')
	dst = append(dst, r.Target...)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, host...)
	dst = append(dst, "\r\n"...)
	for _, field := range r.Fields {
		if bytes.IndexByte(field.Value, '\n') >= 0 || bytes.IndexByte(field.Value, '\r') >= 0 {
			return dst, fmt.Errorf("header %q holds a line break", field.Name)
		}
		dst = append(dst, field.Name...)
		dst = append(dst, ": "...)
		dst = append(dst, field.Value...)
		dst = append(dst, "\r\n"...)
	}
	if !r.bodyless() {
		dst = append(dst, "Content-Length: "...)
		dst = appendInt(dst, len(r.Body))
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...), nil
}
