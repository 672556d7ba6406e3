package eventlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// lockName is the file that keeps other processes out, and ending that of segments.
const (
	lockName = "lock"
	ending   = ".events"
)

func segmentName(number int64) string { return fmt.Sprintf("%012d%s", number, ending) }

// Open opens a log in a folder of its own, which is made if need be, for this user
// alone. Warn is told what of it could not be read; it is lost. The error says
// why there is no log: the folder cannot be used, or another process has it.
func Open(folder string, limits Limits, warn func(error)) (*Log, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the log of conversations: %w", err)
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	l := newLog(limits)
	l.folder, l.lock, l.warn = folder, lock, warn
	if err := l.load(); err != nil {
		for _, s := range l.segments {
			_ = s.close()
		}
		lock.release()
		return nil, err
	}
	l.arm()
	return l, nil
}

// load reads what there is.
func (l *Log) load() error {
	files, err := os.ReadDir(l.folder)
	if err != nil {
		return fmt.Errorf("reading the folder of the log of conversations: %w", err)
	}
	var numbers []int64
	for _, file := range files {
		if name, ok := strings.CutSuffix(file.Name(), ending); ok {
			if number, err := strconv.ParseInt(name, 10, 64); err == nil && segmentName(number) == file.Name() && number > 0 {
				numbers = append(numbers, number)
			}
		}
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		if err := l.loadSegment(number); err != nil {
			return err
		}
	}
	return nil
}

// loadSegment reads one file, up to what is no record.
func (l *Log) loadSegment(number int64) error {
	path := filepath.Join(l.folder, segmentName(number))
	file, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("opening a file of the log of conversations: %w", err)
	}
	s := &segment{number: number, file: file}
	l.segments = append(l.segments, s)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a file of the log of conversations: %w", err)
	}
	s.size, err = scan(text, func(h *head) {
		c := l.conversation(h.id)
		if h.seq < c.next {
			l.warn(fmt.Errorf("the log of conversations has an event twice in %s", path))
			return
		}
		l.note(c, s, h)
		l.bound(c)
	})
	l.size += s.size
	if err == nil {
		return nil
	}
	if !errors.Is(err, errTorn) {
		l.warn(fmt.Errorf("the log of conversations is damaged: %s: %w; what follows there is lost", path, err))
	}
	// What is not whole was never acknowledged. What is written next must not stand
	// behind it.
	if err := file.Truncate(s.size); err != nil {
		l.warn(fmt.Errorf("mending a file of the log of conversations: %w", err))
		s.full = true
	}
	return nil
}

// scan reads records up to the first that is none, and gives their length.
func scan(text []byte, yield func(*head)) (size int64, err error) {
	for int(size) < len(text) {
		h, _, err := readRecord(text[size:])
		if err != nil {
			return size, err
		}
		h.offset = size
		size += h.size
		yield(&h)
	}
	return size, nil
}
