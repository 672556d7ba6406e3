package question

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// FromForm makes questions of the schema of a form of the Model Context Protocol:
// strings become texts or choices, arrays choices of many, booleans confirmations, and
// numbers texts that have to be numbers. A form without properties holds no questions.
// The error is of a schema outside of the protocol's flat rules.
func FromForm(schema rewrite.JSON) ([]Question, error) {
	schema = bytes.TrimSpace(schema)
	if splice.Null(schema) {
		return nil, nil
	}
	if err := splice.Valid(schema); err != nil {
		return nil, fmt.Errorf("reading a form: %w", err)
	}
	if !utf8.Valid(schema) {
		return nil, errors.New("reading a form: its schema is no UTF-8")
	}
	if !isObject(schema) {
		return nil, errors.New("reading a form: its schema is no object")
	}
	root := propertyOf(schema)
	if kind, ok := root.text("type"); len(root["type"]) > 0 && (!ok || kind != "object") {
		return nil, errors.New(`reading a form: its schema is of another type than "object"`)
	}
	if len(root["properties"]) > 0 && !isObject(root["properties"]) {
		return nil, errors.New("reading a form: its properties are no object")
	}
	required := splice.Texts(root["required"])
	var questions []Question
	var wrong error
	splice.Fields(root["properties"], func(key, value []byte) bool {
		q := Question{Key: string(key)}
		if q.Key == "" {
			wrong = errors.New("has no name")
		} else if slices.ContainsFunc(questions, func(other Question) bool { return other.Key == q.Key }) {
			wrong = errors.New("is there twice")
		} else if len(questions) == MaxOptions {
			wrong = fmt.Errorf("is one of more than %d", MaxOptions)
		} else {
			wrong = q.read(value)
		}
		if wrong != nil {
			wrong = fmt.Errorf("reading a form: property %q %w", brief(q.Key), wrong)
			return false
		}
		q.Optional = !slices.Contains(required, q.Key) && len(q.Default) == 0
		questions = append(questions, q)
		return true
	})
	if wrong != nil {
		return nil, wrong
	}
	return questions, nil
}

// property are the members of a property's schema.
type property map[string][]byte

func propertyOf(object []byte) property {
	p := property{}
	splice.Fields(object, func(name, value []byte) bool {
		if !splice.Null(value) {
			p[string(name)] = value
		}
		return true
	})
	return p
}

// text is a member that is a string.
func (p property) text(name string) (string, bool) { return splice.TextOf(p[name]) }

// read fills a question from the schema of its property.
func (q *Question) read(schema []byte) error {
	if !isObject(schema) {
		return errors.New("has no schema")
	}
	p := propertyOf(schema)
	if len(p["properties"]) > 0 && !splice.Empty(p["properties"]) {
		return errors.New("is nested")
	}
	q.Text, _ = p.text("title")
	q.Context, _ = p.text("description")
	if strings.TrimSpace(q.Text) == "" {
		q.Text = q.Key
	}
	var err error
	kind, _ := p.text("type")
	switch kind {
	case "string":
		err = q.readString(p)
	case "number", "integer":
		q.Kind = Text
	case "boolean":
		q.Kind = Confirm
	case "array":
		q.Kind = Multi
		err = q.readItems(p)
	default:
		return errors.New("is of a type that forms do not have: string, number, integer, boolean or array")
	}
	if err != nil {
		return err
	}
	q.Secret = q.Kind == Text && (secretName(q.Key) || string(p["writeOnly"]) == "true" || string(p["format"]) == `"password"`)
	if own := q.property(); !bytes.Equal(own, withoutDefault(p, schema)) {
		q.Schema = slices.Clone(rewrite.JSON(schema))
	}
	if _, err := rulesOf(q.Schema); err != nil {
		return err
	}
	if given := p["default"]; given != nil {
		value, what := q.check(given)
		if what != "" {
			return errors.New("has a default that is no answer to it")
		}
		q.Default = value
	}
	return nil
}

// withoutDefault is a property's schema without its default, if that stands last.
func withoutDefault(p property, schema []byte) []byte {
	if p["default"] == nil {
		return schema
	}
	before, last := bytes.CutSuffix(schema, append(append([]byte(`,"default":`), p["default"]...), '}'))
	if !last {
		return nil
	}
	return append(slices.Clone(before), '}')
}

// readString reads a string: a choice if it lists what it may be.
func (q *Question) readString(p property) (err error) {
	q.Kind = Choice
	switch {
	case p["enum"] != nil:
		q.Options, err = enumOf(p["enum"], p["enumNames"])
	case p["oneOf"] != nil:
		q.Options, err = titlesOf(p["oneOf"])
	default:
		q.Kind = Text
	}
	return err
}

// readItems reads what an array may hold.
func (q *Question) readItems(p property) (err error) {
	items := propertyOf(p["items"])
	kind, ok := items.text("type")
	switch {
	case ok && kind == "string" && items["enum"] != nil:
		q.Options, err = enumOf(items["enum"], nil)
	case items["type"] == nil && items["anyOf"] != nil:
		q.Options, err = titlesOf(items["anyOf"])
	default:
		return errors.New("is an array of something else than listed strings")
	}
	return err
}

// enumOf reads listed values, with their names if they have any.
func enumOf(values, names []byte) (options []Option, err error) {
	labels := list(names)
	all := list(values)
	if names != nil && (!isArray(names) || len(labels) != len(all)) {
		return nil, errors.New("has not as many names as values")
	}
	for i, value := range all {
		text, ok := splice.TextOf(value)
		if !ok {
			return nil, errors.New("lists a value that is no string")
		}
		label := text
		if names != nil {
			label = splice.Text(labels[i])
		}
		options = append(options, Option{text, label})
	}
	return options, listed(options)
}

// titlesOf reads values that each have a title.
func titlesOf(entries []byte) (options []Option, err error) {
	for _, entry := range list(entries) {
		p := propertyOf(entry)
		value, ok := p.text("const")
		title, _ := p.text("title")
		if !ok || value == "" || title == "" {
			return nil, errors.New("lists a value without a const or without a title")
		}
		options = append(options, Option{value, title})
	}
	return options, listed(options)
}

// listed is the fault of a list of values.
func listed(options []Option) error {
	if len(options) == 0 || len(options) > MaxOptions {
		return fmt.Errorf("lists %d values, not 1 to %d", len(options), MaxOptions)
	}
	for i, o := range options {
		if slices.ContainsFunc(options[:i], func(before Option) bool { return before.Value == o.Value }) {
			return errors.New("lists a value twice")
		}
	}
	return nil
}

// secretName reports whether a name is that of something that only its owner may
// see.
func secretName(name string) bool {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower || !unicode.IsLetter(r) {
			b.WriteByte(' ')
		}
		if lower = unicode.IsLower(r); unicode.IsLetter(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	parts := strings.Fields(b.String())
	for i, word := range parts {
		switch word {
		case "password", "passwd", "passcode", "passphrase", "pwd", "secret", "secrets", "token", "pin", "otp", "cvv", "cvc",
			"credential", "credentials", "apikey", "secretkey", "privatekey", "accesskey", "authkey", "bearer":
			return true
		case "key":
			if i > 0 && slices.Contains([]string{"api", "access", "private", "secret", "auth", "encryption", "signing", "ssh"}, parts[i-1]) {
				return true
			}
		}
	}
	return false
}
