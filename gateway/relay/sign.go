package relay

import (
	"bytes"
	"slices"
	"time"

	"warmpath/gateway/catalog"
	"warmpath/gateway/sign"
	"warmpath/gateway/upstream"
)

// sign signs what is about to be sent, for a provider that wants it signed. That
// is done anew whenever it is sent: a signature holds the time, and all of the
// body.
func (x *exchange) sign() {
	p := x.target.Provider
	if p.KeyStyle != catalog.KeySigned {
		return
	}
	path, query, _ := bytes.Cut(x.out.Target, []byte("?"))
	request := sign.Request{Method: x.out.Method, Origin: x.out.Origin, Path: string(path), Query: string(query), Body: x.out.Body}
	fields := slices.DeleteFunc(x.out.Fields, func(f upstream.Field) bool { return slices.ContainsFunc(sign.Names, f.Is) })
	for _, field := range fields {
		if field.Is("content-type") {
			request.ContentType = string(field.Value)
		}
	}
	scope := sign.Scope{
		AccessKey: p.Signing.AccessKey, SecretKey: p.Signing.SecretKey, SessionToken: p.Signing.SessionToken,
		Service: p.Signing.Service, Region: p.Signing.Region,
	}
	lines, err := scope.Lines(&request, time.Now())
	if err != nil {
		// The address was checked when the configuration was read. Unsigned, the
		// request is refused with the reason.
		lines = nil
	}
	for _, line := range lines {
		fields = append(fields, upstream.Field{Name: []byte(line.Name), Value: []byte(line.Value)})
	}
	x.lines.up, x.out.Fields = fields, fields
}
