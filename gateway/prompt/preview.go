package prompt

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// What is shown of arguments and results, in bytes: of all of them, and of one text.
const (
	maxPreview = 4 << 10
	maxText    = 1 << 10
)

// secretNames are the members whose values are not shown.
var secretNames = regexp.MustCompile(`(?i)pass(word|wd|phrase|code)|^pass$|pwd|secret|token$|token[-_ ]|access[-_ ]?tokens|(api|access|private|signing|encryption)[-_ ]?key|credential|authorization|cookie|bearer|^(auth|otp|pin|cvv|cvc)$`)

// secretValues are texts that look like keys, whatever their member is called.
var secretValues = regexp.MustCompile(`\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}|\bxox[a-z]-[\w-]{10,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(-----END [A-Z ]*PRIVATE KEY-----|$)|(?i:\b(bearer|basic) +[\w.~+/=-]{12,})|://[^/\s:@]+:[^/\s@]+@`)

// preview is what is shown of the arguments of a call: JSON as they are, or a string
// where they are none, with secrets masked, bounded, and without what moves a
// terminal's cursor or hides text.
func preview(arguments rewrite.JSON) json.RawMessage {
	if splice.Valid(arguments) != nil {
		return splice.AppendString(nil, plain(string(arguments)))
	}
	p := previewer{}
	p.value(arguments, 0)
	return p.w.Bytes()
}

// previewer writes the part of a value that is shown.
type previewer struct{ w splice.Writer }

const deepest = 8

func (p *previewer) value(v []byte, depth int) {
	text, isText := splice.TextOf(v)
	switch {
	case isText:
		p.w.String(cut(mask(label(text, -1)), maxText))
	case p.w.Size() > maxPreview || depth > deepest && len(v) > 0 && (v[0] == '{' || v[0] == '['):
		p.w.String("…")
	case len(v) > 0 && v[0] == '{':
		p.object(v, depth)
	case len(v) > 0 && v[0] == '[':
		p.w.Open('[')
		splice.Elements(v, func(element []byte) bool {
			p.value(element, depth+1)
			return p.goesOn()
		})
		p.w.Close(']')
	default:
		p.w.Raw(v)
	}
}

func (p *previewer) object(v []byte, depth int) {
	p.w.Open('{')
	splice.Fields(v, func(name, value []byte) bool {
		shown := cut(label(string(name), -1), maxName)
		p.w.Name(mask(shown))
		if secretNames.MatchString(shown) && !splice.Empty(value) {
			p.w.String(secret.Mask)
		} else {
			p.value(value, depth+1)
		}
		if !p.goesOn() {
			p.w.Name("…")
			p.w.String("…")
			return false
		}
		return true
	})
	p.w.Close('}')
}

// goesOn reports whether there is room for more.
func (p *previewer) goesOn() bool { return p.w.Size() <= maxPreview }

// plain is what is shown of a text.
func plain(text string) string { return cut(mask(label(text, -1)), maxPreview) }

// mask hides what looks like a key.
func mask(text string) string { return secretValues.ReplaceAllString(text, secret.Mask) }

// cut is the beginning of a text that is longer than most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// label is a text without control characters, but for line ends and tabs, and
// without characters that change its direction or cannot be seen; of at most so many
// bytes, if most is not negative.
func label(text string, most int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, r != '\n' && r != '\t' && unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, text)
	if most >= 0 {
		clean = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\t' {
				return ' '
			}
			return r
		}, clean)
		if len(clean) > most {
			return cut(clean, most)
		}
	}
	return clean
}
