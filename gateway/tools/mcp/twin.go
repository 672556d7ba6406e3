package mcp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// twin reports whether a structured result says nothing that the texts beside it do
// not say: servers send both, the texts for clients that know no structure. The
// texts are those of all audiences: what is told to people only must not reach the
// model as structure.
func twin(structured gjson.Result, texts []string) bool {
	if len(texts) == 0 {
		return false
	}
	if says(structured, texts) {
		return true
	}
	// Some libraries make an object of any value, by a name of their own.
	if structured.IsObject() {
		only, members := gjson.Result{}, 0
		structured.ForEach(func(_, value gjson.Result) bool {
			only = value
			members++
			return members < 2
		})
		return members == 1 && says(only, texts)
	}
	return false
}

// says reports whether one of the texts is a value, as a text or as JSON, or all of
// them are the elements of a list.
func says(value gjson.Result, texts []string) bool {
	if slices.ContainsFunc(texts, func(text string) bool { return spells(value, text) }) || spells(value, strings.Join(texts, "\n")) {
		return true
	}
	elements := value.Array()
	if !value.IsArray() || len(elements) != len(texts) {
		return false
	}
	for i := range elements {
		if !spells(elements[i], texts[i]) {
			return false
		}
	}
	return true
}

func spells(value gjson.Result, text string) bool {
	if value.Type == gjson.String && value.Str == text {
		return true
	}
	return gjson.Valid(text) && same(value, gjson.Parse(text), 0)
}

// deepest bounds what is compared: what lies deeper counts as different.
const deepest = 64

// same reports whether two values mean the same, however they are spelled.
func same(a, b gjson.Result, depth int) bool {
	switch {
	case a.Type != b.Type || depth > deepest:
		return false
	case a.Type == gjson.String:
		return a.Str == b.Str
	case a.Type == gjson.Number:
		return a.Raw == b.Raw || a.Num == b.Num && number(a.Raw) == number(b.Raw)
	case a.IsArray() && b.IsArray():
		left, right := a.Array(), b.Array()
		if len(left) != len(right) {
			return false
		}
		for i := range left {
			if !same(left[i], right[i], depth+1) {
				return false
			}
		}
		return true
	case a.IsObject() && b.IsObject():
		left, right := a.Map(), b.Map()
		if len(left) != len(right) {
			return false
		}
		for name, value := range left {
			if other, ok := right[name]; !ok || !same(value, other, depth+1) {
				return false
			}
		}
		return true
	}
	return a.Type != gjson.JSON // null, true and false
}

// number is a whole number as it is, since two large ones are told apart by digits
// that no float has, and anything else in one spelling.
func number(raw string) string {
	if _, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return raw
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return raw
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
