package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"warmpath/gateway/secret"
)

// Problem is one fault in the configuration. It never holds a secret.
type Problem struct {
	// Where is the file with line and column, the flag or the variable; empty
	// for a default.
	Where string
	// Key is the dotted path of the setting; empty if the fault is not with
	// one setting.
	Key string
	// Message goes on from the key: what is wrong, then what to do.
	Message string
	// Excerpt is the line of the file with a caret below it, values masked;
	// empty where the place says enough.
	Excerpt string

	place place
}

// String is the problem as text of one or three lines.
func (p Problem) String() string {
	var b strings.Builder
	if p.Where != "" {
		b.WriteString(p.Where + ": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + " ")
	}
	b.WriteString(p.Message)
	if p.Excerpt != "" {
		b.WriteString("\n" + p.Excerpt)
	}
	return b.String()
}

// Problems are all faults that were found, as one error.
type Problems []Problem

// Error is one problem after the other, each on its own line. A file that is
// something else altogether has thousands, of which the first say enough.
func (p Problems) Error() string {
	const most = 50
	var lines []string
	for _, problem := range p[:min(len(p), most)] {
		lines = append(lines, problem.String())
	}
	if more := len(p) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more problems", more))
	}
	return strings.Join(lines, "\n")
}

// report adds a problem of the file's form, with its line.
func (r *reader) report(at place, key, message string) {
	r.problems = append(r.problems, Problem{
		Where: r.where(at), Key: key, Message: message, Excerpt: r.excerpt(at), place: at,
	})
}

// sort puts problems with a place in the file first, in the file's order.
func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		switch {
		case (a.place.line == 0) != (b.place.line == 0):
			return cmp.Compare(b.place.line, a.place.line)
		case a.place.line != b.place.line:
			return cmp.Compare(a.place.line, b.place.line)
		}
		return cmp.Compare(a.place.column, b.place.column)
	})
}

func (r *reader) where(at place) string {
	if at.line == 0 {
		return r.name
	}
	return fmt.Sprintf("%s:%d:%d", r.name, at.line, at.column)
}

// line is the name at the head of a line, if one is there, and the rest.
var line = regexp.MustCompile(`^([ \t]*(?:- +)?)("?[^\s:"'{}\[\],&*!|>%@#]+"?[ \t]*:)?(.*)$`)

// excerpt is the line of a place with a caret below. Any value in a faulty
// line may be a key, whatever the line looks like, so only a name at its head
// is shown, and that only if it looks like a setting.
func (r *reader) excerpt(at place) string {
	if at.line < 1 || at.line > len(r.lines) {
		return ""
	}
	parts := line.FindStringSubmatch(strings.TrimRight(r.lines[at.line-1], "\r"))
	if parts == nil {
		return ""
	}
	head, name, rest := parts[1], parts[2], parts[3]
	text := strings.ReplaceAll(head, "\t", " ")
	if name != "" {
		text += shown(strings.Trim(name, "\": \t")) + ":"
	}
	column := min(at.column-1, len(text))
	if strings.TrimSpace(rest) != "" {
		if name != "" {
			text += " "
		}
		if at.column-1 > len(head)+len(name) {
			column = len(text)
		}
		text += secret.Mask
	}
	gutter := fmt.Sprintf("%5d | ", at.line)
	return gutter + text + "\n" + strings.Repeat(" ", len(gutter)-2) + "| " + strings.Repeat(" ", max(column, 0)) + "^"
}

// plain is what the name of a setting looks like, and keys and tokens do not:
// they are long, or have digits or capitals.
var plain = regexp.MustCompile(`^[a-z][a-z_-]{0,23}$`)

// shown is a name, or the mask if it might be something else.
func shown(name string) string {
	if plain.MatchString(name) {
		return name
	}
	return secret.Mask
}

// messageWord is a word of the YAML parser's own messages.
var messageWord = regexp.MustCompile(`^'?[a-z][a-z-]*'?[.,:;]?$|^'[][{}:,]'$|^YAML$|^UTF-8$`)

// scrub leaves the parser's own words in its message and masks what it quotes
// from the file.
func scrub(message string) string {
	words := strings.Fields(message)
	for i, word := range words {
		if len(word) > 24 || !messageWord.MatchString(word) {
			words[i] = secret.Mask
		}
	}
	return strings.Join(words, " ")
}

// nearest is the known name that takes the fewest edits, if that is at most
// two and less than half of the name.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(name, k); d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// distance counts the edits of one byte between two names. Names that are far
// apart in length are not worth counting.
func distance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
