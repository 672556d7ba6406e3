// Package sign signs requests for Amazon Web Services with version 4 of their
// signature.
package sign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"warmpath/gateway/secret"
)

// Scope is who signs, and for which service in which region.
type Scope struct {
	AccessKey, SecretKey secret.String
	// SessionToken belongs to credentials that expire; none otherwise.
	SessionToken    secret.String
	Service, Region string
}

// Request is what a signature covers. Path and Query are as they stand in the
// request line.
type Request struct {
	Method, Origin, Path, Query string
	ContentType                 string
	Body                        []byte
}

// Line is a header line of a signed request.
type Line struct{ Name, Value string }

// names are the header lines that a signature is made of.
const (
	nameSignature = "Authorization"
	nameDate      = "X-Amz-Date"
	nameToken     = "X-Amz-Security-Token"
	nameDigest    = "X-Amz-Content-Sha256"
)

// Names are the header lines that Lines gives, in lower case: those of an earlier
// signature must go.
var Names = []string{strings.ToLower(nameSignature), strings.ToLower(nameDate), strings.ToLower(nameToken), strings.ToLower(nameDigest)}

// Lines are the header lines that sign a request at a time. The error is of an
// origin that is no address, and holds no secret.
func (s *Scope) Lines(r *Request, at time.Time) ([]Line, error) {
	host, err := url.Parse(r.Origin)
	if err != nil || host.Host == "" {
		return nil, fmt.Errorf("signing for %q, which is not an address", r.Origin)
	}
	sum := sha256.Sum256(r.Body)
	digest := hex.EncodeToString(sum[:])
	signed := &http.Request{
		Method: r.Method, Host: host.Host, Header: http.Header{nameDigest: {digest}},
		// The path is signed as it is sent, whatever is escaped in it.
		URL: &url.URL{Scheme: host.Scheme, Host: host.Host, Opaque: "//" + host.Host + r.Path, RawQuery: r.Query},
	}
	if r.ContentType != "" {
		signed.Header.Set("Content-Type", r.ContentType)
	}
	keys := aws.Credentials{AccessKeyID: s.AccessKey.Reveal(), SecretAccessKey: s.SecretKey.Reveal(), SessionToken: s.SessionToken.Reveal()}
	if err := v4.NewSigner().SignHTTP(context.Background(), keys, signed, digest, s.Service, s.Region, at.UTC()); err != nil {
		return nil, fmt.Errorf("signing for %s: %w", host.Host, err)
	}
	var lines []Line
	for _, name := range []string{nameDate, nameDigest, nameToken, nameSignature} {
		if value := signed.Header.Get(name); value != "" {
			lines = append(lines, Line{name, value})
		}
	}
	return lines, nil
}
