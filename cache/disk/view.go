package disk

import (
	"time"

	"go.etcd.io/bbolt"
)

// view is the two halves of the file within one transaction.
type view struct {
	places  *bbolt.Bucket
	records *bbolt.Bucket
}

func viewOf(tx *bbolt.Tx) view {
	v := view{tx.Bucket(places), tx.Bucket(records)}
	if v.places == nil || v.records == nil {
		panic(&damageError{"a half of it is missing"})
	}
	v.records.FillPercent = 0.9 // Most records come in at the end.
	return v
}

// placeKey is a key as places has it; the byte before it keeps it from being
// empty, which the library does not take.
func placeKey(key string) []byte {
	return append(append(make([]byte, 0, 1+len(key)), 'k'), key...)
}

// find gives the place of a key's record.
func (v view) find(key []byte) (p place, ok bool, err error) {
	at := v.places.Get(key)
	switch {
	case at == nil:
		return p, false, nil
	case len(at) != len(p):
		return p, false, &damageError{"a place has the wrong length"}
	}
	return place(at), true, nil
}

// value is what a key has, or nil; it is valid until the transaction ends or
// writes.
func (v view) value(key string, now time.Time) ([]byte, error) {
	p, ok, err := v.find(placeKey(key))
	if err != nil || !ok || p.expired(now) {
		return nil, err
	}
	found, value, ok := open(p, v.records.Get(p[:]))
	if !ok || string(found) != key {
		return nil, &damageError{"a record is not what was written"}
	}
	return value, nil
}

// put replaces what a key has, or removes it if the record is dead.
func (v view) put(r *record) error {
	key := placeKey(r.key)
	old, ok, err := v.find(key)
	if err != nil {
		return err
	}
	if ok {
		if err := v.records.Delete(old[:]); err != nil {
			return err
		}
	}
	if r.expires == 0 {
		return v.places.Delete(key)
	}
	number, err := v.records.NextSequence()
	if err != nil {
		return err
	}
	p := newPlace(r.expires, number)
	r.seal(p)
	if err := v.records.Put(p[:], r.text); err != nil {
		return err
	}
	return v.places.Put(key, p[:])
}

// remove removes a record and, if it is still its key's, the key.
func (v view) remove(p place, text []byte) error {
	found, _, ok := open(p, text)
	if !ok {
		return &damageError{"a record is not what was written"}
	}
	key := placeKey(string(found))
	at, ok, err := v.find(key)
	if err != nil {
		return err
	}
	if ok && at == p {
		if err := v.places.Delete(key); err != nil {
			return err
		}
	}
	return v.records.Delete(p[:])
}
