package converse

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"warmpath/rewrite/sse"
)

// DefaultMax is how many bytes one frame may have unless a Splitter is told
// otherwise.
const DefaultMax = 16 << 20

const (
	preludeSize = 12 // two lengths, and the checksum of both
	checkSize   = 4
	keepBuffer  = 64 << 10
)

// The faults of a stream. After one nothing in it can be told from noise.
var (
	ErrChecksum  = errors.New("a frame of the event stream does not fit its checksum")
	ErrFrameSize = errors.New("a frame of the event stream has an impossible size")
	ErrHeader    = errors.New("a frame of the event stream has a header that cannot be read")
)

// Splitter finds the events in a binary event stream that arrives in chunks of
// any size. An event that lies wholly inside one chunk is not copied. The zero
// Splitter is ready for a new stream.
//
// An event has the type of its frame as its name. So has an exception, whose
// type ends in Exception. An error that the service reports in headers only is
// an event named error.
type Splitter struct {
	// Max is how many bytes a frame may have; zero means DefaultMax.
	Max int

	part []byte // of a frame that has not come to its end
	err  error
}

// Feed takes the next chunk and calls yield for each event that it completes.
// After a fault it takes nothing more; see Err.
func (s *Splitter) Feed(chunk []byte, yield func(sse.Event)) {
	for s.err == nil && len(chunk) > 0 {
		if len(s.part) > 0 {
			chunk = chunk[s.fill(chunk):]
			if size := s.size(s.part); s.err == nil && size > 0 && len(s.part) == size {
				s.dispatch(s.part, yield)
				s.clear()
			}
			continue
		}
		size := s.size(chunk)
		if s.err != nil {
			break
		}
		if size == 0 || size > len(chunk) {
			s.part = append(s.part, chunk...)
			return
		}
		s.dispatch(chunk[:size], yield)
		chunk = chunk[size:]
	}
	if s.err != nil {
		s.part = nil
	}
}

// fill adds what the frame under way still needs, and gives how much that was.
func (s *Splitter) fill(chunk []byte) int {
	want := preludeSize
	if size := s.size(s.part); size > 0 {
		want = size
	}
	n := min(want-len(s.part), len(chunk))
	s.part = append(s.part, chunk[:n]...)
	return n
}

// size is how long the frame is that begins here; zero if its prelude has not
// come yet.
func (s *Splitter) size(frame []byte) int {
	if len(frame) < preludeSize {
		return 0
	}
	total, headers := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
	if crc32.ChecksumIEEE(frame[:8]) != binary.BigEndian.Uint32(frame[8:]) {
		s.err = ErrChecksum
		return 0
	}
	limit := s.Max
	if limit <= 0 {
		limit = DefaultMax
	}
	if int64(total) > int64(limit) || int64(total) < preludeSize+checkSize+int64(headers) {
		s.err = ErrFrameSize
		return 0
	}
	return int(total)
}

// dispatch yields the event of a whole frame.
func (s *Splitter) dispatch(frame []byte, yield func(sse.Event)) {
	end := len(frame) - checkSize
	if crc32.ChecksumIEEE(frame[:end]) != binary.BigEndian.Uint32(frame[end:]) {
		s.err = ErrChecksum
		return
	}
	cut := preludeSize + int(binary.BigEndian.Uint32(frame[4:]))
	event, ok, known := readFrame(frame[preludeSize:cut], frame[cut:end])
	if !ok {
		s.err = ErrHeader
	} else if known {
		yield(event)
	}
}

// AtBoundary reports whether the bytes so far end between two frames.
func (s *Splitter) AtBoundary() bool { return len(s.part) == 0 }

// Err is what was wrong with the stream, if anything was.
func (s *Splitter) Err() error { return s.err }

// Close ends the stream. A frame that was cut says nothing. The Splitter is then
// ready for a new stream.
func (s *Splitter) Close(func(sse.Event)) {
	s.clear()
	s.err = nil
}

// clear empties the room for frames, and gives it back if it has grown large.
func (s *Splitter) clear() {
	if s.part = s.part[:0]; cap(s.part) > keepBuffer {
		s.part = nil
	}
}
