package splice

import "slices"

// Rest writes those members of an object that are not among names, as they are, into
// the object that is open.
func (w *Writer) Rest(object []byte, names ...string) {
	Fields(object, func(key, value []byte) bool {
		if !slices.Contains(names, string(key)) {
			w.Value(string(key), value)
		}
		return true
	})
}

// Field is a member of an object; nil if there is none.
func Field(object []byte, name string) (found []byte) {
	Fields(object, func(key, value []byte) bool {
		if string(key) == name {
			found = value
		}
		return true
	})
	return found
}

// Besides is an object with those members of another one that are not known, or are
// null; nil if there are none. Of members in nested only what is not known there counts.
func Besides(object []byte, known []string, nested map[string][]string) []byte {
	var w Writer
	w.Open('{')
	size := w.Size()
	Fields(object, func(key, value []byte) bool {
		name := string(key)
		if within, ok := nested[name]; ok && !Null(value) {
			if value = Besides(value, within, nil); value != nil {
				w.Value(name, value)
			}
		} else if Null(value) || !slices.Contains(known, name) {
			w.Value(name, value)
		}
		return true
	})
	if w.Size() == size {
		return nil
	}
	w.Close('}')
	return w.Bytes()
}
