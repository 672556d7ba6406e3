package eventlog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"time"
)

// maxID is the length of the longest name of a conversation, and maxRecord that of
// the longest record, in bytes.
const (
	maxID     = 255
	maxRecord = 16 << 20
)

// prefix is what stands before each record: its length, and its checksum.
const prefix = 8

var polynomial = crc32.MakeTable(crc32.Castagnoli)

// head is what a record says of its event.
type head struct {
	id           string
	seq, turn    int64
	at           time.Time
	items, heads []Mark
	// offset is where the record begins, size how long it is with its prefix, and
	// length how long the event is, at its end.
	offset, size int64
	length       int
}

// appendRecord appends an event with its head, in which it notes their lengths.
func appendRecord(dst []byte, h *head, event func(dst []byte, seq int64) []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	dst = append(append(dst, byte(len(h.id))), h.id...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.seq))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.turn))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.at.UnixMilli()))
	for _, marks := range []*[]Mark{&h.items, &h.heads} {
		*marks = (*marks)[:min(len(*marks), math.MaxUint16)]
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(*marks)))
	}
	for _, marks := range [][]Mark{h.items, h.heads} {
		for i := range marks {
			dst = append(dst, marks[i][:]...)
		}
	}
	begin := len(dst)
	dst = event(dst, h.seq)
	h.length, h.size = len(dst)-begin, int64(len(dst)-start)
	rest := dst[start+prefix:]
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(rest)))
	binary.LittleEndian.PutUint32(dst[start+4:], crc32.Checksum(rest, polynomial))
	return dst
}

var (
	errTorn    = errors.New("its last record is not whole")
	errDamaged = errors.New("a record is not what was written")
)

// readRecord reads the record that a text begins with.
func readRecord(text []byte) (h head, event []byte, err error) {
	if len(text) < prefix {
		return h, nil, errTorn
	}
	n := int(binary.LittleEndian.Uint32(text))
	if n > maxRecord {
		return h, nil, errDamaged
	}
	if len(text)-prefix < n {
		return h, nil, errTorn
	}
	rest := text[prefix : prefix+n]
	if crc32.Checksum(rest, polynomial) != binary.LittleEndian.Uint32(text[4:]) {
		return h, nil, errDamaged
	}
	h.size = int64(prefix + n)
	if event, err = h.read(rest); err != nil {
		return h, nil, err
	}
	h.length = len(event)
	return h, event, nil
}

// read reads a record without its prefix.
func (h *head) read(rest []byte) (event []byte, err error) {
	const fixed = 3*8 + 2*2
	if len(rest) < 1 || len(rest) < 1+int(rest[0])+fixed || rest[0] == 0 {
		return nil, errDamaged
	}
	h.id = string(rest[1 : 1+int(rest[0])])
	rest = rest[1+int(rest[0]):]
	h.seq, h.turn = int64(binary.LittleEndian.Uint64(rest)), int64(binary.LittleEndian.Uint64(rest[8:]))
	h.at = time.UnixMilli(int64(binary.LittleEndian.Uint64(rest[16:])))
	items, heads := int(binary.LittleEndian.Uint16(rest[24:])), int(binary.LittleEndian.Uint16(rest[26:]))
	rest = rest[fixed:]
	if len(rest) < (items+heads)*len(Mark{}) || h.seq < 1 || h.turn < 0 {
		return nil, errDamaged
	}
	for _, to := range []struct {
		marks *[]Mark
		n     int
	}{{&h.items, items}, {&h.heads, heads}} {
		for range to.n {
			*to.marks = append(*to.marks, Mark(rest[:len(Mark{})]))
			rest = rest[len(Mark{}):]
		}
	}
	return rest, nil
}
