package question

import (
	"fmt"
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// optionsOf reads options: texts, objects with a value and a label, an object of
// values and their labels, or one text that lists them.
func optionsOf(value []byte) (options []Option, wrong fault) {
	if value == nil {
		return nil, fault{}
	}
	value = unwrapped(value)
	switch text, ok := splice.TextOf(value); {
	case ok:
		for _, part := range strings.FieldsFunc(text, separator(text)) {
			if part = strings.TrimSpace(strings.ToValidUTF8(part, "\uFFFD")); part != "" {
				options = append(options, Option{part, part})
			}
		}
	case isObject(value):
		splice.Fields(value, func(name, label []byte) bool {
			option := Option{Value: strings.TrimSpace(strings.ToValidUTF8(string(name), "\uFFFD")), Label: trimmed(label)}
			if option.Label == "" {
				option.Label = option.Value
			}
			options = append(options, option)
			return true
		})
	case isArray(value):
		for _, element := range list(value) {
			option, ok := optionOf(element)
			if !ok {
				return nil, fault{"has an option without a text", `write each option as a text, or as an object with "value" and "label"`}
			}
			options = append(options, option)
		}
	case value[0] == 'f': // "options": false
		return nil, fault{}
	default:
		return nil, fault{"has options that are no list", `write "options" as a list of texts`}
	}
	return distinct(options)
}

// separator tells what stands between the options of a text: lines where it has
// several, else bars, semicolons or commas.
func separator(text string) func(rune) bool {
	for _, r := range "\n|;" {
		if strings.ContainsRune(strings.TrimSpace(text), r) {
			return func(c rune) bool { return c == r }
		}
	}
	return func(c rune) bool { return c == ',' }
}

// optionOf reads one option of a list.
func optionOf(element []byte) (o Option, ok bool) {
	if text := trimmed(element); text != "" {
		return Option{text, text}, true
	}
	m := membersOf(element)
	value := trimmed(m.get("value", "id", "const", "key", "name"))
	label := trimmed(m.get("label", "title", "text", "name", "option"))
	if value == "" {
		value = label
	}
	if label == "" {
		label = value
	}
	if more := trimmed(m.get("description", "details")); more != "" && label != "" {
		label += ": " + more
	}
	return Option{value, label}, value != ""
}

// distinct drops options that are there twice. Two that a person or the model could
// not tell apart are a fault.
func distinct(options []Option) (kept []Option, wrong fault) {
	for _, o := range options {
		if o.Value == "" {
			return nil, fault{"has an option without a text", `write each option as a text, or as an object with "value" and "label"`}
		}
		i := slices.IndexFunc(kept, func(k Option) bool { return k.Value == o.Value || k.Label == o.Label })
		switch {
		case i < 0:
			kept = append(kept, o)
		case kept[i] != o:
			return nil, fault{fmt.Sprintf("has two options that are alike, %s and %s", quoted(brief(kept[i].Label)), quoted(brief(o.Label))),
				"give each option a value and a label of its own"}
		}
	}
	if len(kept) > MaxOptions {
		return nil, fault{fmt.Sprintf("has %d options", len(kept)), fmt.Sprintf("give at most %d, or use kind \"text\"", MaxOptions)}
	}
	return kept, fault{}
}

// defaultOf reads the default of a question. What is none of the question's own
// answers is dropped, and the note says so.
func defaultOf(q *Question, given []byte) (value rewrite.JSON, note string) {
	const dropped = "its default was no answer to it and was left out"
	switch q.Kind {
	case Confirm:
		if yes, ok := yesOrNo(given); ok {
			return rewrite.JSON(map[bool]string{true: "true", false: "false"}[yes]), ""
		}
	case Text:
		if text, ok := words(given); ok && text != "" {
			return quoted(text), ""
		} else if ok {
			return nil, ""
		}
	case Choice:
		if o, ok := q.match(trimmed(given)); ok {
			return quoted(o.Value), ""
		}
	case Multi:
		return defaultsOf(q, given)
	}
	return nil, dropped
}

// defaultsOf is defaultOf of a Multi: what is among the options, in their order.
func defaultsOf(q *Question, given []byte) (value rewrite.JSON, note string) {
	given = unwrapped(given)
	wanted := list(given)
	if text, ok := splice.TextOf(given); ok {
		if _, whole := q.match(text); whole {
			wanted = [][]byte{given}
		} else {
			for part := range strings.SplitSeq(text, ",") {
				wanted = append(wanted, quoted(part))
			}
		}
	}
	chosen := make([]bool, len(q.Options))
	lost := len(wanted) == 0 && !isArray(given)
	for _, one := range wanted {
		if o, ok := q.match(trimmed(one)); ok {
			chosen[slices.Index(q.Options, o)] = true
		} else {
			lost = true
		}
	}
	if lost {
		note = "what of its default was no option was left out"
	}
	if !slices.Contains(chosen, true) && lost {
		return nil, note
	}
	return q.chosen(chosen), note
}

// chosen are the values of some of the options, as JSON.
func (q *Question) chosen(which []bool) rewrite.JSON {
	var w splice.Writer
	w.Open('[')
	for i, o := range q.Options {
		if which[i] {
			w.String(o.Value)
		}
	}
	w.Close(']')
	return w.Bytes()
}

// match gives the option that a text names by value or label, whatever its case.
func (q *Question) match(text string) (Option, bool) {
	if text = strings.TrimSpace(text); text == "" {
		return Option{}, false
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, of := range []func(Option) string{func(o Option) string { return o.Value }, func(o Option) string { return o.Label }} {
			for _, o := range q.Options {
				if same(of(o), text) {
					return o, true
				}
			}
		}
	}
	return Option{}, false
}

// truth reports whether a value says yes.
func truth(value []byte) bool {
	yes, ok := yesOrNo(value)
	return ok && yes
}

// yesOrNo reads a truth value, or a word or a number for one.
func yesOrNo(value []byte) (yes, ok bool) {
	text, _ := words(value)
	switch fold(text) {
	case "true", "yes", "y", "1", "on":
		return true, true
	case "false", "no", "n", "0", "off":
		return false, true
	}
	return false, false
}
