package display

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Bound is how much is shown of something: so many lines, or one of Off, Full and
// Chat.
type Bound int

// The bounds that are no number of lines. Off is no line. Full and Chat are all of
// them, Chat as if the model had said them.
const (
	Off  Bound = 0
	Full Bound = 1 << 30
	Chat Bound = Full + 1
)

// Usual is the bound of what nothing is said about, in lines.
const Usual Bound = 10

// String is the bound as it is written in settings.
func (b Bound) String() string {
	switch b {
	case Off:
		return "off"
	case Full:
		return "full"
	case Chat:
		return "chat"
	}
	return strconv.Itoa(int(b))
}

// larger is the one of two bounds that shows more.
func larger(a, b Bound) Bound { return min(max(a, b), Full) }

// ParseBound reads a bound: true or full, false or off, chat, a number of lines, or an
// object {"truncate":{"lines":N}}. Words and numbers may be strings.
func ParseBound(value rewrite.JSON) (Bound, error) {
	const forms = `write off, full, a number of lines or {truncate: {lines: N}}`
	if len(value) > 0 && value[0] == '{' {
		lines, err := onlyField(value, "truncate")
		if err == nil {
			lines, err = onlyField(lines, "lines")
		}
		if err != nil {
			return Off, fmt.Errorf("%w; %s", err, forms)
		}
		value = lines
	}
	text, isText := splice.TextOf(value)
	if !isText {
		text = string(value)
	}
	switch text = strings.ToLower(strings.TrimSpace(text)); text {
	case "true", "on", "full":
		return Full, nil
	case "false", "off":
		return Off, nil
	case "chat":
		return Chat, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return Off, errors.New("is no bound; " + forms)
	}
	return min(Bound(n), Full), nil
}

// onlyField is the value of the only member that an object has.
func onlyField(object []byte, name string) (only []byte, err error) {
	if len(object) == 0 || object[0] != '{' {
		return nil, errors.New("is no mapping")
	}
	splice.Fields(object, func(key, value []byte) bool {
		if string(key) != name {
			err = fmt.Errorf("has %q", short(key))
			return false
		}
		only = value
		return true
	})
	if err == nil && only == nil {
		err = fmt.Errorf("has no %q", name)
	}
	return only, err
}

// short is the beginning of a name that is told of.
func short(name []byte) string {
	runes := []rune(string(name))
	return string(runes[:min(len(runes), 40)])
}

// Results is how much is shown of the blocks of a tool's result that are for people,
// and of those that are for the model.
type Results struct{ User, Assistant Bound }

// ParseResults reads what is said of results: one bound for both, or an object with a
// bound for user, for assistant or for each. Only what is for people can be chat.
func ParseResults(value rewrite.JSON) (r Results, err error) {
	r = Results{Usual, Usual}
	if len(value) > 0 && value[0] == '{' && !hasField(value, "truncate") {
		splice.Fields(value, func(key, bound []byte) bool {
			switch string(key) {
			case "user":
				r.User, err = ParseBound(bound)
			case "assistant":
				r.Assistant, err = ParseBound(bound)
			default:
				err = fmt.Errorf("has %q; write user or assistant", short(key))
			}
			return err == nil
		})
	} else {
		r.User, err = ParseBound(value)
		r.Assistant = r.User
	}
	switch {
	case err != nil:
		return Results{Usual, Usual}, err
	case r.Assistant == Chat:
		return Results{Usual, Usual}, errors.New("is chat for the assistant; only user can be chat")
	}
	return r, nil
}

func hasField(object []byte, name string) (found bool) {
	splice.Fields(object, func(key, _ []byte) bool {
		found = string(key) == name
		return !found
	})
	return found
}

// String is the setting as it is written.
func (r Results) String() string {
	if r.User == r.Assistant {
		return r.User.String()
	}
	return fmt.Sprintf("{user: %s, assistant: %s}", r.User, r.Assistant)
}
