package display

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/printable"
	"warmpath/rewrite/splice"
)

// Settings are what a person has said of the display. The zero Settings are the usual
// ones.
type Settings struct {
	// Controls is what becomes of control characters in what strangers have written.
	Controls printable.Mode
	// Reasoning is how much is shown of the model's reasoning; nil is the usual.
	Reasoning *Bound
	// Every is what holds for every tool, and Tools what holds for some, by name; a *
	// at the end of a name is any rest.
	Every Row
	Tools map[string]Row
	// Errors is how much is shown of failures, whatever else is said.
	Errors *Results
}

// Row is what is said of tools. What is nil is left to what is more general.
type Row struct {
	Results        *Results
	Header, Hidden *bool
}

// Tool is what holds for one result of one tool.
type Tool struct {
	Results Results
	// Header says that a line tells of the call, and Hidden that nothing does.
	Header, Hidden bool
}

// built are the rows of tools that need no settings to be shown as they are meant: what
// tell_user is called with is said to people, in the conversation.
var built = map[string]Row{
	"tell_user": {Results: &Results{User: Chat, Assistant: Off}, Header: new(bool)},
}

// Tool is what holds for a result of the tool of a name. That a call has failed can
// show more of the result, and changes nothing else.
func (s *Settings) Tool(name string, failed bool) Tool {
	t := Tool{Results: Results{Usual, Usual}, Header: true}
	for _, row := range []Row{s.Every, built[name], s.Tools[s.pattern(name)], s.Tools[name]} {
		if row.Results != nil {
			t.Results = *row.Results
		}
		if row.Header != nil {
			t.Header = *row.Header
		}
		if row.Hidden != nil {
			t.Hidden = *row.Hidden
		}
	}
	if failed && s.Errors != nil {
		t.Results = *s.Errors
	}
	return t
}

// pattern is the longest one that a name matches.
func (s *Settings) pattern(name string) (best string) {
	for pattern := range s.Tools {
		begin, open := strings.CutSuffix(pattern, "*")
		if open && strings.HasPrefix(name, begin) && len(pattern) > len(best) {
			best = pattern
		}
	}
	return best
}

// Reasons is how much is shown of reasoning.
func (s *Settings) Reasons() Bound {
	if s.Reasoning == nil {
		return Usual
	}
	return *s.Reasoning
}

// Fault is something wrong with a setting.
type Fault struct {
	// Path is where the setting stands, without the section's own name.
	Path []string
	// Message is what is wrong and what to write, as the rest of a sentence.
	Message string
}

// Error is the fault as a sentence.
func (f *Fault) Error() string { return strings.Join(f.Path, ".") + " " + f.Message }

// Parse reads the settings as a JSON object: controls, reasoning, inline_results,
// style (header and hidden), errors (inline_results), and tools with inline_results
// and style under each name. Words, numbers and truth values may be strings. The error
// is a *Fault.
func Parse(section rewrite.JSON) (s Settings, err error) {
	if section = bytes.TrimSpace(section); splice.Valid(section) != nil {
		return s, &Fault{nil, "is no JSON"}
	}
	p := &parser{}
	p.fields(section, nil, map[string]func([]byte, []string){
		"controls": func(value []byte, at []string) { s.Controls = p.mode(value, at) },
		"reasoning": func(value []byte, at []string) {
			bound, err := ParseBound(value)
			if err == nil && bound == Chat {
				err = errors.New("is chat; write off, full or a number of lines")
			}
			p.fail(at, err)
			s.Reasoning = &bound
		},
		"inline_results": func(value []byte, at []string) { s.Every.Results = p.results(value, at) },
		"style":          func(value []byte, at []string) { p.style(value, at, &s.Every) },
		"errors": func(value []byte, at []string) {
			p.fields(value, at, map[string]func([]byte, []string){
				"inline_results": func(value []byte, at []string) { s.Errors = p.results(value, at) },
			})
		},
		"tools": func(value []byte, at []string) { s.Tools = p.tools(value, at) },
	})
	return s, p.err
}

// parser keeps the first fault.
type parser struct{ err error }

func (p *parser) fail(at []string, err error) {
	if err != nil && p.err == nil {
		p.err = &Fault{slices.Clone(at), err.Error()}
	}
}

// fields gives each member of an object to the function of its name.
func (p *parser) fields(object []byte, at []string, known map[string]func(value []byte, at []string)) {
	if splice.Null(object) {
		return
	}
	isObject := splice.Fields(object, func(key, value []byte) bool {
		path := append(slices.Clone(at), short(key))
		read := known[string(key)]
		if read == nil {
			p.fail(path, errors.New("is not a setting; write one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		} else if !splice.Null(value) {
			read(value, path)
		}
		return p.err == nil
	})
	if !isObject {
		p.fail(at, errors.New("is no mapping"))
	}
}

func (p *parser) mode(value []byte, at []string) printable.Mode {
	for _, mode := range printable.Modes {
		if splice.Text(value) == mode.String() {
			return mode
		}
	}
	p.fail(at, errors.New("is unknown; write strip, visualise or off"))
	return printable.Strip
}

func (p *parser) results(value []byte, at []string) *Results {
	r, err := ParseResults(value)
	p.fail(at, err)
	return &r
}

func (p *parser) style(value []byte, at []string, row *Row) {
	p.fields(value, at, map[string]func([]byte, []string){
		"header": func(value []byte, at []string) { row.Header = p.truth(value, at) },
		"hidden": func(value []byte, at []string) { row.Hidden = p.truth(value, at) },
	})
}

func (p *parser) truth(value []byte, at []string) *bool {
	text, isText := splice.TextOf(value)
	if !isText {
		text = string(value)
	}
	var on bool
	switch text {
	case "true", "on":
		on = true
	case "false", "off":
	default:
		p.fail(at, errors.New("is neither on nor off"))
	}
	return &on
}

func (p *parser) tools(value []byte, at []string) map[string]Row {
	rows := map[string]Row{}
	if !splice.Fields(value, func(key, value []byte) bool {
		name := string(key)
		path := append(slices.Clone(at), short(key))
		if begin := strings.TrimSuffix(name, "*"); name == "" || strings.Contains(begin, "*") {
			p.fail(path, errors.New("is not a pattern; write a tool's name, or the beginning of one and a *"))
			return false
		}
		var row Row
		p.fields(value, path, map[string]func([]byte, []string){
			"inline_results": func(value []byte, at []string) { row.Results = p.results(value, at) },
			"style":          func(value []byte, at []string) { p.style(value, at, &row) },
		})
		rows[name] = row
		return p.err == nil
	}) {
		p.fail(at, errors.New("is no mapping"))
	}
	if len(rows) == 0 {
		return nil
	}
	return rows
}
