package front

import (
	"bytes"

	"warmpath/rewrite"
)

// spelling is a path as servers read it: without escapes, doubled slashes and a slash
// at its end.
type spelling struct {
	read []byte
	// at is where each byte of read begins in the path as it came, and where the path
	// ends; nil where the two are the same.
	at []int
}

// spell reads a raw path. It is not ok if there is a % that begins no escape: who reads
// on from there may read anything.
func spell(raw []byte) (s spelling, ok bool) {
	if bytes.IndexByte(raw, '%') < 0 && !bytes.Contains(raw, []byte("//")) && (len(raw) < 2 || raw[len(raw)-1] != '/') {
		return spelling{read: raw}, true
	}
	for i := 0; i < len(raw); {
		c, n := raw[i], 1
		if c == '%' {
			if c, ok = escaped(raw[i:]); !ok {
				return spelling{}, false
			}
			n = 3
		}
		if c != '/' || len(s.read) == 0 || s.read[len(s.read)-1] != '/' {
			s.read, s.at = append(s.read, c), append(s.at, i)
		}
		i += n
	}
	if end := len(s.read) - 1; end > 0 && s.read[end] == '/' {
		s.read, s.at = s.read[:end], s.at[:end]
		// What is behind belongs to the path all the same.
	}
	s.at = append(s.at, len(raw))
	return s, true
}

// escaped is the byte that an escape stands for.
func escaped(text []byte) (c byte, ok bool) {
	if len(text) < 3 {
		return 0, false
	}
	for _, digit := range text[1:3] {
		switch lower := digit | 0x20; {
		case '0' <= digit && digit <= '9':
			c = c<<4 | (digit - '0')
		case 'a' <= lower && lower <= 'f':
			c = c<<4 | (lower - 'a' + 10)
		default:
			return 0, false
		}
	}
	return c, true
}

// raw is what of the path as it came stands from a byte of read on.
func (s *spelling) raw(path []byte, from int) []byte {
	if s.at == nil {
		return path[from:]
	}
	return path[s.at[from]:]
}

// span is a span of read in what raw gives from a byte on.
func (s *spelling) span(of rewrite.Span, from int) rewrite.Span {
	if s.at == nil {
		return of
	}
	return rewrite.Span{Start: s.at[from+of.Start] - s.at[from], End: s.at[from+of.End] - s.at[from]}
}

// loosely reads a path as the most lenient server might, which undoes every escape of
// escapes, is not particular about letters, and leaves out what is no part of a name.
func loosely(path []byte) []byte {
	for range len(path) {
		s, ok := spell(path)
		if !ok || len(s.read) == len(path) {
			break
		}
		path = s.read
	}
	loose := make([]byte, 0, len(path))
	parameter := false
	for _, c := range path {
		switch {
		case c == '/', c == '\\':
			parameter = false
			if len(loose) == 0 || loose[len(loose)-1] != '/' {
				loose = append(loose, '/')
			}
		case c == ';':
			parameter = true
		case !parameter && c > ' ' && c < 0x7f:
			loose = append(loose, lower(c))
		}
	}
	if end := len(loose) - 1; end > 0 && loose[end] == '/' {
		loose = loose[:end]
	}
	return loose
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
