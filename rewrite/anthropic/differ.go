package anthropic

// FirstDifference is where an element leaves an older one, cache marks apart: the
// offset into the newer element, and into the older one. Where one of them ends
// first that is its length. The comparison is of bytes, as the provider's is.
func FirstDifference(older, newer []byte) (inNewer, inOlder int) {
	a, b := StripMark(older), StripMark(newer)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return unstripped(newer, b, same), unstripped(older, a, same)
}

// unstripped turns an offset into an element without marks into one into the
// element: by as much as has been cut before it.
func unstripped(element, stripped []byte, at int) int {
	cut := len(element) - len(stripped)
	if cut == 0 || at < len(stripped) && element[at] == stripped[at] && string(element[:at]) == string(stripped[:at]) {
		return at
	}
	return min(at+cut, len(element))
}
