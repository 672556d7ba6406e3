package upstream

import (
	"errors"
	"fmt"
)

// dechunker removes chunked framing in place: a buffer of raw bytes becomes a
// shorter buffer of payload bytes, however many chunks it held, so that what
// arrived together is passed on together.
type dechunker struct {
	state  chunkState
	remain int64 // payload bytes left in the current chunk
	line   int   // bytes seen of the current size or trailer line
	any    bool  // the current size line had a digit
}

type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkExtension
	chunkData
	chunkDataEnd
	chunkTrailer
	chunkDone
)

// maxChunkLine bounds a size line with its extensions, and the trailers.
const maxChunkLine = 16 << 10

var errChunkLine = errors.New("chunk header or trailer longer than 16 KiB")

// decode compacts the payload found in buf to its front and returns its
// length, and how many bytes of buf it consumed: all of them unless the body
// ended before.
func (d *dechunker) decode(buf []byte) (payload, consumed int, err error) {
	i := 0
	for i < len(buf) && d.state != chunkDone {
		if d.state == chunkData {
			n := int(min(d.remain, int64(len(buf)-i)))
			payload += copy(buf[payload:], buf[i:i+n])
			i += n
			d.remain -= int64(n)
			if d.remain == 0 {
				d.state, d.line = chunkDataEnd, 0
			}
			continue
		}
		if err := d.frame(buf[i]); err != nil {
			return payload, i, err
		}
		i++
	}
	return payload, i, nil
}

// frame takes one byte of framing.
func (d *dechunker) frame(c byte) error {
	if d.line++; d.line > maxChunkLine {
		return errChunkLine
	}
	switch d.state {
	case chunkSize:
		return d.size(c)
	case chunkExtension:
		if c == '\n' {
			d.sizeDone()
		}
	case chunkDataEnd:
		if c == '\n' {
			d.state, d.line, d.remain, d.any = chunkSize, 0, 0, false
		} else if c != '\r' || d.line > 1 {
			return fmt.Errorf("chunk is followed by %q, want a line break", c)
		}
	case chunkTrailer:
		return d.trailer(c)
	case chunkData, chunkDone:
		panic("BUG: framing byte in payload")
	}
	return nil
}

func (d *dechunker) size(c byte) error {
	digit := hexValue(c)
	switch {
	case digit >= 0:
		if d.remain >= 1<<58 {
			return errors.New("chunk size overflows")
		}
		d.remain, d.any = d.remain<<4|int64(digit), true
		return nil
	case !d.any:
		return fmt.Errorf("chunk size starts with %q", c)
	case c == '\n':
		d.sizeDone()
	case c == ';' || c == '\r' || c == ' ' || c == '\t':
		d.state = chunkExtension
	default:
		return fmt.Errorf("chunk size holds %q", c)
	}
	return nil
}

func (d *dechunker) sizeDone() {
	d.state, d.line = chunkData, 0
	if d.remain == 0 {
		d.state = chunkTrailer
	}
}

// trailer skips trailer lines; an empty line ends the body. The remain field
// counts the characters of the current line, since no payload is left.
func (d *dechunker) trailer(c byte) error {
	switch c {
	case '\n':
		if d.remain == 0 {
			d.state = chunkDone
		}
		d.remain = 0
	case '\r':
	default:
		d.remain++
	}
	return nil
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
