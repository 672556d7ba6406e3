package lineage

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"reflect"

	"warmpath/rewrite/continuity"
)

// version is that of what is written. Raise it when the order or the form of it
// changes; that a field comes, goes or changes its type is seen without it.
const version = 3

// header begins whatever is written under a history. What begins otherwise was
// written by another version of the gateway, and is as if lost.
var header = string(binary.LittleEndian.AppendUint32([]byte{version}, shape(reflect.TypeFor[continuity.State]())))

// shape is a digest of all fields of a type, by name and kind.
func shape(t reflect.Type) uint32 {
	digest := fnv.New32a()
	describe(digest, t)
	return digest.Sum32()
}

func describe(w io.Writer, t reflect.Type) {
	_, _ = io.WriteString(w, t.Kind().String())
	switch t.Kind() {
	case reflect.Struct:
		for field := range t.Fields() {
			_, _ = io.WriteString(w, " "+field.Name+" ")
			describe(w, field.Type)
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		describe(w, t.Elem())
	default:
	}
}

// join makes the value that stands under a history of records, one for each
// state, oldest first.
func join(records [][]byte) []byte {
	size := len(header)
	for _, record := range records {
		size += binary.MaxVarintLen32 + len(record)
	}
	value := append(make([]byte, 0, size), header...)
	for _, record := range records {
		value = append(binary.AppendUvarint(value, uint64(len(record))), record...)
	}
	return value
}

// split gives the records of a value, sharing its memory; nil for what another
// version has written.
func split(value []byte) (records [][]byte) {
	if len(value) < len(header) || string(value[:len(header)]) != header {
		return nil
	}
	for value = value[len(header):]; len(value) > 0; {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return nil
		}
		value = value[size:]
		records, value = append(records, value[:n:n]), value[n:]
	}
	return records
}

// unnamed is a record without the names of its conversation and the request that
// made it; nil if it is none.
func unnamed(record []byte) []byte {
	c := codec{reading: true, passing: true, bytes: record, known: func(continuity.Hash) []byte { return nil }}
	var s continuity.State
	if c.names(&s); c.bad {
		return nil
	}
	return record[c.at:]
}
