package question

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// MaxQuestions and MaxOptions are how much is asked at once: more than a person
// reads, and less than a form that fills a screen.
const (
	MaxQuestions = 20
	MaxOptions   = 100
)

// Normalize makes questions of the arguments of a call of ask_user, whatever a model
// has made of them. Where no questions can be made of them, problem is the sentence
// that the model reads: what is wrong and how to put it right. It never fails: there
// are questions or there is a problem, for any arguments.
func Normalize(arguments rewrite.JSON) (questions []Question, problem string) {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) > 0 {
		if err := splice.Valid(arguments); err != nil {
			return nil, refusal("the arguments are not valid JSON", "write one JSON object with a list of questions")
		}
	}
	all := asked(unwrapped(arguments))
	switch {
	case len(all) == 0:
		return nil, refusal("the call holds no questions", `give "questions", a list of objects with "kind" and "text"`)
	case len(all) > MaxQuestions:
		return nil, refusal(fmt.Sprintf("there are %d questions", len(all)), fmt.Sprintf("ask at most %d at once", MaxQuestions))
	}
	for i, one := range all {
		q, wrong := normalize(one)
		if wrong.what != "" {
			return nil, refusal(fmt.Sprintf("question %d %s", i+1, wrong.what), wrong.instead)
		}
		q.Key = "q" + strconv.Itoa(i+1)
		questions = append(questions, q)
	}
	return questions, ""
}

// fault is what is wrong with a question, and what to do instead.
type fault struct{ what, instead string }

func refusal(what, instead string) string {
	return "Nobody was asked, because " + what + ": " + instead + ", and call " + Name + " again."
}

// The names that models give to the members of a question, as fold has them; the
// first is the canonical one.
var (
	textNames    = []string{"text", "question", "prompt", "message", "title", "label", "query"}
	contextNames = []string{"context", "description", "details", "hint", "help", "explanation"}
	kindNames    = []string{"kind", "type", "answertype", "inputtype"}
	optionNames  = []string{"options", "choices", "values", "enum", "answers"}
	defaultNames = []string{"default", "defaultvalue"}
	manyNames    = []string{"multiselect", "multiple", "allowmultiple"}
)

// asked are the questions that a value holds: a list of them, one alone, or
// arguments whose members are those of a question.
func asked(value []byte) [][]byte {
	switch {
	case isArray(value):
		return list(value)
	case isObject(value):
	case len(value) > 0 && value[0] == '"':
		if strings.TrimSpace(splice.Text(value)) == "" {
			return nil
		}
		return [][]byte{value}
	default:
		return nil
	}
	m := membersOf(value)
	if inner := m.get("questions"); inner != nil {
		if inner = unwrapped(inner); isArray(inner) {
			return list(inner)
		}
		return [][]byte{inner}
	}
	if inner := unwrapped(m.get("question")); isArray(inner) {
		return list(inner)
	} else if isObject(inner) {
		return [][]byte{inner}
	}
	for _, names := range [][]string{textNames, contextNames, kindNames, optionNames} {
		if m.get(names...) != nil {
			return [][]byte{value}
		}
	}
	return nil
}

// normalize reads one question, all but its key.
func normalize(value []byte) (q Question, wrong fault) {
	value = unwrapped(value)
	m := membersOf(value)
	if text, ok := words(value); ok {
		m = members{{"text", quoted(text)}}
	} else if !isObject(value) {
		return q, fault{"is neither an object nor a text", `write it as an object with "kind" and "text"`}
	}
	q.Text, q.Context = trimmed(m.get(textNames...)), trimmed(m.get(contextNames...))
	if q.Text == "" {
		q.Text, q.Context = q.Context, ""
	}
	if q.Text == "" {
		return q, fault{"has no text", `say in "text" what is asked`}
	}
	options, wrong := optionsOf(m.get(optionNames...))
	if wrong.what != "" {
		return q, wrong
	}
	if q.Kind, wrong = kindOf(m, len(options)); wrong.what != "" {
		return q, wrong
	}
	switch {
	case q.Kind == Choice && len(options) < 2:
		return q, fault{"is a choice of " + counted(len(options), "option"), `give at least two in "options", or use kind "text" or "confirm"`}
	case q.Kind == Multi && len(options) == 0:
		return q, fault{"is a choice without options", `give them in "options", or use kind "text"`}
	case q.Kind == Text && len(options) > 0:
		return q, fault{`has options, though its kind is "text"`, `use kind "choice" or "multi", or leave the options out`}
	case q.Kind != Confirm:
		q.Options = options
	}
	if given := m.get(defaultNames...); given != nil {
		q.Default, q.Note = defaultOf(&q, given)
	}
	return q, fault{}
}

func trimmed(value []byte) string {
	text, _ := words(value)
	return strings.TrimSpace(text)
}

// kindWords are what models call the kinds, as fold has it.
var kindWords = map[string]Kind{
	"choice": Choice, "single": Choice, "select": Choice, "radio": Choice, "pick": Choice, "one": Choice,
	"singleselect": Choice, "singlechoice": Choice, "dropdown": Choice, "enum": Choice, "option": Choice, "options": Choice,
	"multi": Multi, "multiple": Multi, "many": Multi, "checkbox": Multi, "checkboxes": Multi, "multiselect": Multi,
	"multichoice": Multi, "multiplechoice": Multi, "array": Multi, "list": Multi,
	"text": Text, "string": Text, "input": Text, "free": Text, "open": Text, "freetext": Text, "freeform": Text, "textarea": Text,
	"number": Text, "integer": Text, "int": Text, "float": Text, "date": Text, "email": Text, "url": Text,
	"confirm": Confirm, "confirmation": Confirm, "yesno": Confirm, "yes/no": Confirm, "boolean": Confirm, "bool": Confirm, "yn": Confirm, "y/n": Confirm,
}

// kindOf is the kind of a question with so many options.
func kindOf(m members, options int) (Kind, fault) {
	kind := Text
	if options > 0 {
		kind = Choice
	}
	given := m.get(kindNames...)
	word, isWord := words(given)
	if word = strings.TrimSpace(word); word != "" {
		known := false
		if kind, known = kindWords[fold(word)]; !known {
			return kind, fault{fmt.Sprintf("is of the unknown kind %s", quoted(brief(word))), "use one of the kinds choice, multi, text and confirm"}
		}
	} else if given != nil && !isWord {
		return kind, fault{"has a kind that is no word", "use one of the kinds choice, multi, text and confirm"}
	}
	if many := m.get(manyNames...); kind == Choice && many != nil && truth(many) {
		kind = Multi
	}
	return kind, fault{}
}

// brief is the beginning of a text that is quoted in a sentence.
func brief(text string) string {
	const most = 40
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "..."
}
