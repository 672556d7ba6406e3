package audience

import "warmpath/rewrite/splice"

// Skim takes the content of a result that a walker stands at, and reports whether it
// needs a look, which hardly any does: it holds a word of those that the pass is about,
// a kind of block that is foreign to the dialect, or nothing at all. It allocates
// nothing.
func Skim(w *splice.Walker, foreign []string) (look bool) {
	start := w.Offset()
	skim(w, foreign, 0, &look)
	return look || splice.Empty(w.Since(start))
}

func skim(w *splice.Walker, foreign []string, depth int, look *bool) {
	switch next := w.Next(); {
	case *look || depth > 2*maxNesting:
		w.Value()
	case next != '[' && next != '{':
		*look = Packs(w.Value())
	case next == '[':
		w.Elements(func() { skim(w, foreign, depth+1, look) })
	default:
		w.Fields(func(key []byte) {
			switch string(key) {
			case "annotations", "mimeType", "_meta":
				*look = true
			case "type":
				*look = *look || isOne(w.Value(), foreign)
			default:
				skim(w, foreign, depth+1, look)
			}
		})
	}
}

// isOne reports a string that is one of some.
func isOne(value []byte, of []string) bool {
	content, ok := splice.String(value)
	for _, text := range of {
		if ok && string(content) == text {
			return true
		}
	}
	return false
}

// Is reports whether a JSON value is a certain string. It allocates nothing unless the
// value has escapes.
func Is(value []byte, text string) bool {
	content, ok := splice.String(value)
	return ok && string(content) == text
}
