package disk

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is an entry as the file has it: checksum, length of the key, key,
// value. The checksum covers the place too, so that a record which damage has
// put under another place or another key is not taken for that one's.
type record struct {
	key     string
	expires uint64 // Unix milliseconds; 0 for an entry that is dead already
	text    []byte // the record, its checksum still to be filled in
}

const recordHead = 4 + 2

func newRecord(key string, value []byte, expires time.Time) record {
	text := make([]byte, recordHead, recordHead+len(key)+len(value))
	binary.BigEndian.PutUint16(text[4:], uint16(len(key)))
	text = append(text, key...)
	text = append(text, value...)
	return record{key: key, expires: uint64(expires.UnixMilli()), text: text}
}

func (r *record) size() int { return len(r.key) + len(r.text) }

// seal fills the checksum in for a place.
func (r *record) seal(p place) {
	binary.BigEndian.PutUint32(r.text, checksum(p, r.text))
}

func checksum(p place, text []byte) uint32 {
	return crc32.Update(crc32.Checksum(p[:], castagnoli), castagnoli, text[4:])
}

// open takes a record apart. The slices are parts of text.
func open(p place, text []byte) (key, value []byte, ok bool) {
	if len(text) < recordHead || checksum(p, text) != binary.BigEndian.Uint32(text) {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(text[4:]))
	if len(text) < recordHead+n {
		return nil, nil, false
	}
	return text[recordHead : recordHead+n], text[recordHead+n:], true
}

// place is where a record is: under when it expires and a number that no other
// record has. Records in the order of their places are in the order in which
// they go.
type place [16]byte

func newPlace(expires, number uint64) (p place) {
	binary.BigEndian.PutUint64(p[:8], expires)
	binary.BigEndian.PutUint64(p[8:], number)
	return p
}

func (p place) expired(now time.Time) bool {
	return binary.BigEndian.Uint64(p[:8]) <= uint64(now.UnixMilli())
}
