package relay

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"warmpath/rewrite"
)

// pack compresses with one of the encodings that clients use.
func pack(t *testing.T, encoding, plain string) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, err = zstd.NewWriter(&out)
	default:
		return []byte(plain)
	}
	if err == nil {
		_, err = io.WriteString(w, plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDecodeBody(t *testing.T) {
	plain := `{"model":"m","text":"` + strings.Repeat("words and ", 500) + `"}`
	for _, encoding := range []string{"", "identity", "gzip", "deflate", "br", "zstd"} {
		t.Run(encoding, func(t *testing.T) {
			packed := pack(t, encoding, plain)
			got, failure := decodeBody(packed, []byte(encoding), int64(len(plain)), &roomy{})
			if failure != nil || string(got) != plain {
				t.Errorf("unpacked to %d bytes, %v", len(got), failure)
			}
			if encoding == "" || encoding == "identity" {
				return
			}
			if _, failure := decodeBody(packed, []byte(encoding), int64(len(plain))-1, &roomy{}); failure == nil || failure.Reason != rewrite.ReasonTooLarge {
				t.Errorf("one byte over the limit: %v", failure)
			}
			if _, failure := decodeBody(packed[:len(packed)/2], []byte(encoding), 1<<20, &roomy{}); failure == nil || failure.Reason != rewrite.ReasonBadRequest {
				t.Errorf("cut in the middle: %v", failure)
			}
		})
	}
	if _, failure := decodeBody([]byte(plain), []byte("lzma"), 1<<20, &roomy{}); failure == nil || !strings.Contains(failure.Message, "lzma") {
		t.Errorf("unknown encoding: %v", failure)
	}
}

// A small body that unpacks to a huge one must cost no more than the limit.
func TestBombIsRefused(t *testing.T) {
	for _, encoding := range []string{"gzip", "br", "zstd"} {
		bomb := pack(t, encoding, strings.Repeat("\x00", 16<<20))
		if _, failure := decodeBody(bomb, []byte(encoding), 1<<20, &roomy{}); failure == nil || failure.Reason != rewrite.ReasonTooLarge && failure.Reason != rewrite.ReasonBadRequest {
			t.Errorf("%s of %d bytes: %v", encoding, len(bomb), failure)
		}
	}
}
