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

// errNoRoom is a compressed body for which there is no memory now.
var errNoRoom = errors.New("no room for the unpacked body")

// Room is the memory that all bodies together may take, in bytes.
type Room interface {
	// Take returns false if there is none; what it gave is given back with Give.
	Take(n int64) bool
	Give(n int64)
}

// roomStep is how much room is taken at a time, in bytes.
const roomStep = 256 << 10

// roomy is a reader that takes room for what it reads. Without a Room there is
// always some.
type roomy struct {
	from        io.Reader
	room        Room
	read, taken int64
}

func (r *roomy) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.read += int64(n); r.room != nil && r.read > r.taken {
		step := max(roomStep, r.read-r.taken)
		if !r.room.Take(step) {
			return n, errNoRoom
		}
		r.taken += step
	}
	return n, err
}

// take takes room for so much more, and reports whether there was some.
func (r *roomy) take(n int64) bool {
	if r.room == nil || n <= 0 {
		return true
	}
	if !r.room.Take(n) {
		return false
	}
	r.taken += n
	return true
}

// noRoom refuses a request for which there is no room at the moment.
func noRoom(err error) *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBusy, Cause: err, Message: "The gateway holds as many request bodies as it may " +
		"(limits.bodies_in_flight). Send the request again in a moment."}
}

// give gives back what was taken.
func (r *roomy) give() {
	if r.room != nil {
		r.room.Give(r.taken)
		r.taken = 0
	}
}

// decodeBody unpacks a request body for reading, in the room that it takes. A
// body without an encoding is returned as it is.
func decodeBody(body, encoding []byte, limit int64, room *roomy) ([]byte, *rewrite.Failure) {
	if len(encoding) == 0 || string(encoding) == "identity" {
		return body, nil
	}
	plain, err := decode(body, string(encoding), limit, room)
	switch {
	case err == nil:
		return plain, nil
	case errors.Is(err, errTooLarge):
		return nil, &rewrite.Failure{Reason: rewrite.ReasonTooLarge, Cause: err, Message: fmt.Sprintf(
			"The request body unpacks to more than the %d bytes that this gateway accepts. Send less, or raise limits.decoded_body.", limit)}
	}
	if errors.Is(err, errNoRoom) {
		return nil, noRoom(err)
	}
	return nil, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Cause: err, Message: fmt.Sprintf(
		"The request body cannot be unpacked as Content-Encoding %q. Send gzip, deflate, br, zstd, or no encoding.", encoding)}
}

// decode unpacks one of the encodings that HTTP clients and servers use.
func decode(packed []byte, encoding string, limit int64, room *roomy) ([]byte, error) {
	reader, err := decoder(bytes.NewReader(packed), encoding, limit)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	room.from = io.LimitReader(reader, limit+1)
	plain, err := io.ReadAll(room)
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
