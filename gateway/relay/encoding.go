package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"warmpath/rewrite"
)

// errTooLarge is a compressed body that unpacks to more than it may.
var errTooLarge = errors.New("the unpacked body is over the limit")

// decodeBody unpacks a request body for reading. A body without an encoding is
// returned as it is.
func decodeBody(body, encoding []byte, limit int64) ([]byte, *rewrite.Failure) {
	if len(encoding) == 0 || string(encoding) == "identity" {
		return body, nil
	}
	plain, err := decode(body, string(encoding), limit)
	switch {
	case err == nil:
		return plain, nil
	case errors.Is(err, errTooLarge):
		return nil, &rewrite.Failure{Reason: rewrite.ReasonTooLarge, Cause: err, Message: fmt.Sprintf(
			"The request body unpacks to more than the %d bytes that this gateway accepts. Send less, or raise limits.decoded_body.", limit)}
	}
	return nil, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Cause: err, Message: fmt.Sprintf(
		"The request body cannot be unpacked as Content-Encoding %q. Send gzip, deflate, br, zstd, or no encoding.", encoding)}
}

// decode unpacks one of the encodings that HTTP clients and servers use.
func decode(packed []byte, encoding string, limit int64) ([]byte, error) {
	reader, err := decoder(bytes.NewReader(packed), encoding, limit)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	plain, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if int64(len(plain)) > limit {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", encoding, err)
	}
	return plain, nil
}

func decoder(from io.Reader, encoding string, limit int64) (io.ReadCloser, error) {
	switch encoding {
	case "gzip", "x-gzip":
		return gzip.NewReader(from)
	case "deflate":
		return zlib.NewReader(from)
	case "br":
		return io.NopCloser(brotli.NewReader(from)), nil
	case "zstd":
		// The frame's own window may not cost more memory than the body may.
		z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(max(limit, 1<<20))))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("encoding %q is not known", encoding)
}
