package markdown

import (
	"regexp"
	"strings"
)

// What a text may cost: its size in bytes, how many blocks a line may open in each
// other, and how many marks of emphasis and links may stand in one paragraph. Nobody
// writes more, and the time that a parser takes grows with their squares.
const (
	mostBytes  = 256 << 10
	mostBlocks = 100
	mostMarks  = 1000
)

var (
	marks = regexp.MustCompile("\\*+|_+|~+|!?\\[|`+|<")
	// apart are lines that do not go on with the paragraph before them.
	apart = regexp.MustCompile(`^\s*([-+*] |[0-9]+[.)] |#+ |\||$)`)
)

// costly reports a text that is drawn as it is written.
func costly(source string) bool {
	if len(source) > mostBytes {
		return true
	}
	inParagraph := 0
	for line := range strings.Lines(source) {
		if apart.MatchString(line) {
			inParagraph = 0
		}
		inParagraph += len(marks.FindAllStringIndex(line, mostMarks+1))
		if inParagraph > mostMarks || begins(line) > mostBlocks {
			return true
		}
	}
	return false
}

// begins is how many blocks a line opens at its beginning.
func begins(line string) (blocks int) {
	for {
		line = strings.TrimLeft(line, " \t0123456789")
		switch {
		case strings.HasPrefix(line, ">"):
			line = line[1:]
		case len(line) > 1 && strings.IndexByte("-+*.)", line[0]) >= 0 && (line[1] == ' ' || line[1] == '\t' || line[1] == '\n'):
			line = line[1:]
		default:
			return blocks
		}
		blocks++
	}
}
