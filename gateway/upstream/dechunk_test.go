package upstream

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"strings"
	"testing"
)

func TestDechunk(t *testing.T) {
	tests := map[string]struct {
		in      string
		payload string
		rest    string // what follows the body
		wrong   bool
		open    bool // the body has not ended
	}{
		"one chunk":            {in: "5\r\nhello\r\n0\r\n\r\n", payload: "hello"},
		"two chunks":           {in: "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", payload: "hello"},
		"upper-case size":      {in: "A\r\n0123456789\r\n0\r\n\r\n", payload: "0123456789"},
		"size with zeros":      {in: "0005\r\nhello\r\n000\r\n\r\n", payload: "hello"},
		"extension":            {in: "5;name=\"v\"\r\nhello\r\n0;x\r\n\r\n", payload: "hello"},
		"trailers":             {in: "1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n", payload: "x"},
		"bytes after the body": {in: "1\r\nx\r\n0\r\n\r\nHTTP/1.1", payload: "x", rest: "HTTP/1.1"},
		"line feeds alone":     {in: "1\nx\n0\n\n", payload: "x"},
		"payload with breaks":  {in: "4\r\n\r\n0\n\r\n0\r\n\r\n", payload: "\r\n0\n"},
		"cut in payload":       {in: "5\r\nhel", payload: "hel", open: true},
		"cut before the end":   {in: "1\r\nx\r\n0\r\n", payload: "x", open: true},
		"empty":                {in: "", open: true},
		"no size":              {in: "\r\n", wrong: true},
		"size is not hex":      {in: "xyz\r\n", wrong: true},
		"negative size":        {in: "-1\r\n", wrong: true},
		"size overflows":       {in: "fffffffffffffffff\r\n", wrong: true},
		"payload too long":     {in: "1\r\nxy\r\n", payload: "x", wrong: true},
		"endless extension":    {in: "1;" + strings.Repeat("a", maxChunkLine), wrong: true},
	}
	for name, test := range tests {
		// Any way the bytes come apart must give the same.
		for _, step := range []int{1, 2, 3, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s by %d", name, step), func(t *testing.T) {
				payload, rest, done, err := dechunkBy([]byte(test.in), step)
				if (err != nil) != test.wrong {
					t.Fatalf("error = %v, want one: %v", err, test.wrong)
				}
				if string(payload) != test.payload {
					t.Errorf("payload = %q, want %q", payload, test.payload)
				}
				if !test.wrong && (done == test.open || string(rest) != test.rest) {
					t.Errorf("done = %v, rest = %q; want %v, %q", done, rest, !test.open, test.rest)
				}
			})
		}
	}
}

func dechunkBy(raw []byte, step int) (payload, rest []byte, done bool, err error) {
	var d dechunker
	for len(raw) > 0 && d.state != chunkDone {
		piece := bytes.Clone(raw[:min(step, len(raw))])
		n, consumed, err := d.decode(piece)
		payload = append(payload, piece[:n]...)
		if err != nil {
			return payload, nil, false, err
		}
		raw = raw[consumed:]
	}
	return payload, raw, d.state == chunkDone, nil
}

// FuzzDechunk holds the decoder to the standard library's where that accepts.
func FuzzDechunk(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\n"), 3)
	f.Add([]byte("3;a=b\r\nabc\r\n1\r\nd\r\n0\r\nT: v\r\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, raw []byte, step int) {
		step = 1 + (step%64+64)%64
		payload, _, done, err := dechunkBy(bytes.Clone(raw), step)
		want, wantErr := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(raw)))
		if err == nil && done && wantErr == nil && !bytes.Equal(payload, want) {
			t.Errorf("payload = %q, want %q", payload, want)
		}
		if wantErr == nil && (err != nil || !bytes.Equal(payload, want)) {
			t.Errorf("payload = %q, %v; the standard library reads %q", payload, err, want)
		}
	})
}
