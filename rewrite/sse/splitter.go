package sse

import "bytes"

// DefaultMax is how many bytes of one event a Splitter keeps unless told
// otherwise.
const DefaultMax = 16 << 20

// keepBuffer is how large a buffer may be to be kept for the next stream.
const keepBuffer = 64 << 10

// Event is one event of a stream. Its bytes are valid during the call that
// receives it only. Name is empty for an event without one; the lines of Data
// are joined by a single newline.
type Event struct {
	Name, Data []byte
}

// Splitter finds the events in a stream that arrives in chunks of any size. An
// event that lies wholly inside one chunk is not copied. The zero Splitter is
// ready for a new stream.
type Splitter struct {
	// Max is how many bytes the lines of one event may have together; zero
	// means DefaultMax. A longer event is skipped to its end and counted.
	Max int
	// Bare also takes an event that begins with an opening brace as data, line
	// breaks included. Google's servers report an error in the middle of a
	// stream in that way.
	Bare bool
	// Skipped counts the events that were longer than Max.
	Skipped int64

	// name and data are the event so far. They lie in the chunk, in line or in
	// their own buffers; at the end of a chunk they are moved out of it.
	name, data       []byte
	nameBuf, dataBuf []byte
	// line is the beginning of a line whose end has not come yet.
	line []byte
	// size is what the lines of the event have used of Max.
	size int

	begun   bool // a line was read: a byte order mark is no longer one
	hasData bool
	joined  bool // data is dataBuf
	bare    bool // the event is bare JSON
	fields  bool // the event has a line that is not a comment
	skip    bool // the event is too long
	partial bool // a line has begun, whether or not it is kept
	afterCR bool // the next byte, if a newline, belongs to the last line's end
}

// Feed takes the next chunk and calls yield for each event that it completes.
func (s *Splitter) Feed(chunk []byte, yield func(Event)) {
	if s.afterCR && len(chunk) > 0 {
		s.afterCR = false
		if chunk[0] == '\n' {
			chunk = chunk[1:]
		}
	}
	// Each of the two line ends is looked for once per byte, however the
	// stream mixes them.
	lf, cr := -1, -1
	for pos := 0; pos < len(chunk); {
		if lf < pos {
			lf = indexFrom(chunk, pos, '\n')
		}
		if cr < pos {
			cr = indexFrom(chunk, pos, '\r')
		}
		end := min(lf, cr)
		if end == len(chunk) {
			s.settle()
			s.keep(chunk[pos:])
			return
		}
		s.endLine(chunk[pos:end], yield)
		pos = end + 1
		if end == cr {
			if pos == len(chunk) {
				s.afterCR = true
			} else if chunk[pos] == '\n' {
				pos++
			}
		}
	}
	s.settle()
}

// AtBoundary reports whether the bytes so far end between two events, so that
// an event written now would be read as one of its own.
func (s *Splitter) AtBoundary() bool { return !s.fields && !s.partial }

// Close ends the stream: an event that lacks only its blank line is yielded.
// The Splitter is then ready for a new stream.
func (s *Splitter) Close(yield func(Event)) {
	if s.partial {
		s.endLine(nil, yield)
	}
	s.dispatch(yield)
	s.begun, s.afterCR = false, false
	if cap(s.line) > keepBuffer {
		s.line = nil
	}
	if cap(s.dataBuf) > keepBuffer {
		s.dataBuf = nil
	}
}

// indexFrom is the offset of the first c at or after pos, or the length of b.
func indexFrom(b []byte, pos int, c byte) int {
	if i := bytes.IndexByte(b[pos:], c); i >= 0 {
		return pos + i
	}
	return len(b)
}

// keep stores the beginning of a line.
func (s *Splitter) keep(start []byte) {
	s.partial = true
	if s.skip || s.exceeds(len(s.line)+len(start)) {
		return
	}
	s.line = append(s.line, start...)
}

// endLine handles a line that ends with rest.
func (s *Splitter) endLine(rest []byte, yield func(Event)) {
	line, blank := rest, len(rest) == 0 && !s.partial
	if s.partial {
		s.keep(rest)
		line, s.line, s.partial = s.line, s.line[:0], false
	} else if !blank && !s.skip {
		s.exceeds(len(rest))
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		blank = len(line) == 0 && !s.skip
	}
	switch {
	case blank:
		s.dispatch(yield)
	case !s.skip:
		s.field(line)
	}
}

// exceeds starts skipping the event if a line of n bytes is too much for it.
func (s *Splitter) exceeds(n int) bool {
	limit := s.Max
	if limit <= 0 {
		limit = DefaultMax
	}
	if n <= limit-s.size {
		return false
	}
	s.skip, s.fields = true, true
	s.line, s.name, s.data = nil, nil, nil
	s.nameBuf, s.dataBuf = nil, nil
	s.hasData, s.joined = false, false
	return true
}

// field reads one line of an event.
func (s *Splitter) field(line []byte) {
	if line[0] == ':' && !s.bare {
		return
	}
	s.fields = true
	s.size += len(line) + 1
	if s.bare {
		s.addData(line)
		return
	}
	if s.Bare && line[0] == '{' && !s.hasData {
		s.bare = true
		s.addData(line)
		return
	}
	name, value := line, []byte(nil)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		s.addData(value)
	case "event":
		s.name = value
	}
}

// addData adds a line of data; the first is kept where it lies.
func (s *Splitter) addData(value []byte) {
	if !s.hasData {
		s.data, s.hasData = value, true
		return
	}
	s.ownData()
	s.dataBuf = append(append(s.dataBuf, '\n'), value...)
	s.data = s.dataBuf
}

// ownData moves the data into its own buffer.
func (s *Splitter) ownData() {
	if !s.joined {
		s.dataBuf = append(s.dataBuf[:0], s.data...)
		s.data, s.joined = s.dataBuf, true
	}
}

// settle moves what the event has so far out of the chunk, and out of the line
// buffer, which the next line will need.
func (s *Splitter) settle() {
	if s.hasData {
		s.ownData()
	}
	if len(s.name) > 0 {
		s.nameBuf = append(s.nameBuf[:0], s.name...)
		s.name = s.nameBuf
	}
}

// dispatch ends the event. One without data is dropped, as the standard says.
func (s *Splitter) dispatch(yield func(Event)) {
	if s.skip {
		s.Skipped++
	} else if s.hasData {
		yield(Event{Name: s.name, Data: s.data})
	}
	s.name, s.data, s.size = nil, nil, 0
	s.hasData, s.joined, s.bare, s.fields, s.skip = false, false, false, false, false
}
