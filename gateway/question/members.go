package question

import (
	"strings"
	"unicode/utf8"

	"warmpath/rewrite/splice"
)

// member is a member of an object that a model has written.
type member struct {
	name  string // as fold has it
	value []byte
}

// members are found whatever their order, case and separators are.
type members []member

// membersOf are those of an object; none for any other value.
func membersOf(object []byte) (all members) {
	splice.Fields(object, func(name, value []byte) bool {
		all = append(all, member{fold(string(name)), value})
		return true
	})
	return all
}

// get is the value of the first of the names that says something, or nil.
func (m members) get(names ...string) []byte {
	for _, name := range names {
		for i := len(m) - 1; i >= 0; i-- { // Of members of one name the last holds.
			if m[i].name == name && !splice.Null(m[i].value) {
				return m[i].value
			}
		}
	}
	return nil
}

// fold is a word without case and without what separates its parts.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(word)))
}

// words is the text of a string, of a number or of a truth value; ok is false for
// any other value.
func words(value []byte) (text string, ok bool) {
	switch {
	case splice.Null(value) || value[0] == '{' || value[0] == '[':
		return "", false
	case value[0] == '"':
		text = splice.Text(value)
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "\uFFFD")
		}
		return text, true
	}
	return string(value), true
}

// list are the elements of an array.
func list(array []byte) (all [][]byte) {
	splice.Elements(array, func(value []byte) bool {
		all = append(all, value)
		return true
	})
	return all
}

// isArray and isObject tell values apart that are not null.
func isArray(value []byte) bool  { return len(value) > 0 && value[0] == '[' }
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// unwrapped is the JSON text that a string holds if it holds any, else the value.
// A model that has written its arguments twice is understood.
func unwrapped(value []byte) []byte {
	text, ok := splice.TextOf(value)
	if !ok {
		return value
	}
	inner := []byte(strings.TrimSpace(text))
	if (isArray(inner) || isObject(inner)) && splice.Valid(inner) == nil {
		return inner
	}
	return value
}

// quoted is a text as a JSON string.
func quoted(text string) []byte { return splice.AppendString(nil, text) }
