package eventlog

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// segment is a part of the log that is forgotten as a whole: a file, or memory.
type segment struct {
	number int64
	size   int64
	// oldest and newest are the times of its first event and its last.
	oldest, newest time.Time
	file           *os.File
	memory         []byte
	full           bool // nothing more is written to it
}

// newSegment makes one.
func (l *Log) newSegment(number int64) (*segment, error) {
	s := &segment{number: number}
	if l.folder == "" {
		return s, nil
	}
	var err error
	s.file, err = os.OpenFile(filepath.Join(l.folder, segmentName(number)), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("beginning a file of the log of conversations: %w", err)
	}
	return s, nil
}

// write adds bytes, all or none.
func (s *segment) write(p []byte) error {
	if s.file == nil {
		s.memory = append(s.memory, p...)
		s.size += int64(len(p))
		return nil
	}
	if _, err := s.file.WriteAt(p, s.size); err != nil {
		if cut := s.file.Truncate(s.size); cut != nil {
			// What is behind its end would be taken for a record.
			s.full = true
		}
		return fmt.Errorf("writing the log of conversations: %w", err)
	}
	s.size += int64(len(p))
	return nil
}

// read appends the bytes at a place. They are those of memory itself where there is
// no file and dst is nil.
func (s *segment) read(dst []byte, memory []byte, r *ref) ([]byte, error) {
	if s.file == nil {
		return append(dst, memory[r.offset:r.offset+int64(r.length)]...), nil
	}
	at := len(dst)
	dst = append(dst, make([]byte, r.length)...)
	if _, err := s.file.ReadAt(dst[at:], r.offset); err != nil {
		return nil, fmt.Errorf("reading the log of conversations: %w", err)
	}
	return dst, nil
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("closing a file of the log of conversations: %w", err)
	}
	return nil
}

// remove deletes the segment's file.
func (s *segment) remove() error {
	if s.file == nil {
		return nil
	}
	err := os.Remove(s.file.Name())
	_ = s.file.Close()
	if err != nil {
		return fmt.Errorf("removing a file of the log of conversations: %w", err)
	}
	return nil
}
