package replies

import (
	"crypto/sha256"
	"encoding/binary"
)

// version is that of what is written. What another version has written is as if
// lost.
const version = 1

// head begins a turn in the store.
type head struct {
	// input and reply are their lengths in bytes, and digest is of both.
	input, reply int
	digest       [sha256.Size]byte
	previous     string
	// before are the keys of the turns before this one, the oldest first, so that
	// a chain is read without following it.
	before []key
}

// size is that of the turn in bytes.
func (h *head) size() int { return h.input + h.reply }

// pieces is in how many entries the turn stands; the first is always there.
func (h *head) pieces() int { return max(1, (h.size()+room-1)/room) }

func (h *head) append(dst []byte) []byte {
	dst = append(dst, version)
	dst = append(dst, h.digest[:]...)
	dst = binary.AppendUvarint(dst, uint64(h.input))
	dst = binary.AppendUvarint(dst, uint64(h.reply))
	dst = binary.AppendUvarint(dst, uint64(len(h.previous)))
	dst = append(dst, h.previous...)
	dst = binary.AppendUvarint(dst, uint64(len(h.before)))
	for i := range h.before {
		dst = append(dst, h.before[i][:]...)
	}
	return dst
}

// readHead reads a head and gives what stands behind it, sharing value's memory.
func readHead(value []byte) (h head, rest []byte, ok bool) {
	if len(value) < 1+sha256.Size || value[0] != version {
		return h, nil, false
	}
	value = value[1+copy(h.digest[:], value[1:]):]
	number := func(most int) int {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(most) {
			value, ok = nil, false
			return 0
		}
		value = value[size:]
		return int(n)
	}
	ok = true
	h.input, h.reply = number(MaxTurn), number(MaxTurn)
	if n := number(len(value)); ok && n <= len(value) {
		h.previous, value = string(value[:n]), value[n:]
	} else {
		return h, nil, false
	}
	n := number(MaxChain)
	if !ok || n*len(key{}) > len(value) || h.size() > MaxTurn {
		return h, nil, false
	}
	h.before = make([]key, n)
	for i := range h.before {
		value = value[copy(h.before[i][:], value):]
	}
	return h, value, true
}
