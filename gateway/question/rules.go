package question

import (
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"warmpath/rewrite/splice"
)

// rules are what a property asks of an answer beyond its kind. A bound that is not
// set is negative, or nil.
type rules struct {
	number, integer      bool
	format               string
	pattern              *regexp.Regexp
	minLength, maxLength int
	minItems, maxItems   int
	least, most          *float64
	above, below         *float64
}

// formats are those of texts that forms have; password is ours, as what is to be
// typed unseen.
var formats = []string{"", "email", "uri", "date", "date-time", "password"}

// rulesOf reads the rules of a property; the error is what is wrong with them.
func rulesOf(schema []byte) (r rules, err error) {
	p := propertyOf(schema)
	kind, _ := p.text("type")
	r.integer = kind == "integer"
	r.number = kind == "number" || r.integer
	r.minLength, r.maxLength, r.minItems, r.maxItems = -1, -1, -1, -1
	for name, bound := range map[string]*int{"minLength": &r.minLength, "maxLength": &r.maxLength, "minItems": &r.minItems, "maxItems": &r.maxItems} {
		if p[name] != nil {
			n, ok := splice.Int(p[name])
			if !ok || n < 0 {
				return r, fmt.Errorf("has a %s that is no number from 0 on", name)
			}
			*bound = int(min(n, 1<<30))
		}
	}
	for name, bound := range map[string]**float64{"minimum": &r.least, "maximum": &r.most, "exclusiveMinimum": &r.above, "exclusiveMaximum": &r.below} {
		if p[name] != nil {
			n, err := strconv.ParseFloat(string(p[name]), 64)
			if err != nil {
				return r, fmt.Errorf("has a %s that is no number", name)
			}
			*bound = &n
		}
	}
	switch {
	case r.maxLength >= 0 && r.maxLength < r.minLength, r.maxItems >= 0 && r.maxItems < r.minItems, r.least != nil && r.most != nil && *r.most < *r.least:
		return r, errors.New("has a greatest value below its least")
	case kind != "string":
		return r, nil
	}
	if r.format, _ = p.text("format"); !slices.Contains(formats, r.format) {
		return r, errors.New("has a format that forms do not have: email, uri, date or date-time")
	}
	if pattern, ok := p.text("pattern"); ok {
		if r.pattern, err = regexp.Compile(pattern); err != nil {
			return r, errors.New("has a pattern that cannot be read")
		}
	}
	return r, nil
}

// text is what is wrong with a text, or empty.
func (r *rules) text(text string) string {
	length := utf8.RuneCountInString(text)
	switch {
	case r.minLength >= 0 && length < r.minLength:
		return fmt.Sprintf("needs at least %s", counted(r.minLength, "character"))
	case r.maxLength >= 0 && length > r.maxLength:
		return fmt.Sprintf("may have at most %s", counted(r.maxLength, "character"))
	case r.pattern != nil && !r.pattern.MatchString(text):
		return "has to match " + r.pattern.String()
	}
	switch r.format {
	case "email":
		if address, err := mail.ParseAddress(text); err != nil || address.Address != text {
			return "has to be an email address"
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || !u.IsAbs() {
			return "has to be a whole address, such as https://example.com"
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "has to be a date, such as 2026-01-31"
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return "has to be a date and time, such as 2026-01-31T12:00:00Z"
		}
	}
	return ""
}

// numeric is what is wrong with a number in its JSON spelling, or empty.
func (r *rules) numeric(number string) string {
	n, err := strconv.ParseFloat(number, 64)
	end := splice.Scalar([]byte(number), 0)
	switch {
	case err != nil || end != len(number):
		if r.integer {
			return "has to be a whole number"
		}
		return "has to be a number"
	case r.integer && n != math.Trunc(n):
		return "has to be a whole number"
	case r.least != nil && n < *r.least:
		return "has to be at least " + spelled(*r.least)
	case r.most != nil && n > *r.most:
		return "has to be at most " + spelled(*r.most)
	case r.above != nil && n <= *r.above:
		return "has to be above " + spelled(*r.above)
	case r.below != nil && n >= *r.below:
		return "has to be below " + spelled(*r.below)
	}
	return ""
}

// items is what is wrong with so many chosen options, or empty.
func (r *rules) items(n int) string {
	switch {
	case r.minItems >= 0 && n < r.minItems:
		return fmt.Sprintf("needs at least %s", counted(r.minItems, "option"))
	case r.maxItems >= 0 && n > r.maxItems:
		return fmt.Sprintf("may have at most %s", counted(r.maxItems, "option"))
	}
	return ""
}

func spelled(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
