package prompt

import (
	"errors"
	"log/slog"
	"strings"

	"warmpath/gateway/question"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Outcome is what came of a prompt.
type Outcome uint8

// The outcomes.
const (
	// Answered is a yes, or the answers to a question.
	Answered Outcome = iota
	// Declined is a no, Cancelled the end of the turn or of the wish to be asked.
	Declined
	Cancelled
	// Expired is that nobody has answered in time, and Nobody that nobody could be
	// asked and the policy refuses: neither is a no.
	Expired
	Nobody
	// Approved, Defaulted and Model are what the policies say where nobody can be
	// asked: leave to go on, the defaults of a question, and that the model is to
	// answer it.
	Approved
	Defaulted
	Model
	// Draining is that the gateway stops; the request may be sent again.
	Draining
)

// Outcomes lists every outcome, for metric labels.
var Outcomes = []Outcome{Answered, Declined, Cancelled, Expired, Nobody, Approved, Defaulted, Model, Draining}

// String is the outcome's name in prompts and metrics.
func (o Outcome) String() string {
	return [...]string{"answered", "declined", "cancelled", "expired", "nobody", "approved", "defaults", "model", "draining"}[o]
}

// byPerson reports whether somebody has said it.
func (o Outcome) byPerson() bool { return o <= Cancelled }

// Answer is what came of asking. It prints as its outcome: what people answer is
// nobody's business but the tool's.
type Answer struct {
	Outcome Outcome
	// Content is the answers to questions by their keys, with defaults.
	Content rewrite.JSON
	// Arguments are those that a tool is to run with in place of the model's, if
	// somebody has changed them, and Text what is to be delivered in place of a
	// result.
	Arguments rewrite.JSON
	Text      *string
	// Skipped says that a tool is passed over for a Reason, which may be empty.
	Skipped bool
	Reason  string
	// Policy and Setting say who has decided where nobody could be asked.
	Policy  Policy
	Setting string
	// turn says that the answer holds for the rest of the turn.
	turn bool
}

// Yes reports whether a tool may run, or its result go on.
func (a Answer) Yes() bool { return a.Outcome == Answered || a.Outcome == Approved }

// Has reports whether there are answers to the questions.
func (a Answer) Has() bool { return a.Outcome == Answered || a.Outcome == Defaulted }

// String is the outcome.
func (a Answer) String() string { return a.Outcome.String() }

// GoString is the outcome.
func (a Answer) GoString() string { return a.Outcome.String() }

// LogValue is the outcome.
func (a Answer) LogValue() slog.Value { return slog.StringValue(a.Outcome.String()) }

// The reasons why an answer is not taken.
var (
	// ErrUnknown is for a prompt that does not exist, or not for who answers.
	ErrUnknown = errors.New("there is no such prompt")
	// ErrAnswered is for one that somebody has answered before.
	ErrAnswered = errors.New("the prompt has been answered before")
	// ErrGone is for one that has expired or whose turn has ended.
	ErrGone = errors.New("the prompt is over: it has expired, or its turn has ended")
	// ErrUnreachable is for one that waits on another gateway while the store that they
	// share does not answer. It may be tried again.
	ErrUnreachable = errors.New("the store that the gateways share does not answer; try again")
	// ErrDraining is what Ask fails with when the gateway stops.
	ErrDraining = errors.New("the gateway is stopping")
)

// InvalidError is for an answer that does not fit the prompt, which stays open.
type InvalidError struct{ Problem string }

// Error is what is wrong with the answer. It repeats nothing of it.
func (e *InvalidError) Error() string { return e.Problem }

func invalid(problem string) error { return &InvalidError{problem} }

// Reply is what somebody answers. It prints as its action.
type Reply struct {
	Action  string
	Content rewrite.JSON
	// Turn says that it holds for the rest of the turn.
	Turn bool
}

// The actions of a reply, which are those of the Model Context Protocol.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// String is the action.
func (r Reply) String() string { return r.Action }

// GoString is the action.
func (r Reply) GoString() string { return r.Action }

// maxReply bounds the body of a reply, in bytes.
const maxReply = 1 << 20

// ParseReply reads the body of a request that answers: an object with action, and
// maybe content and scope. Its error is an InvalidError.
func ParseReply(body []byte) (r Reply, err error) {
	if len(body) > maxReply {
		return r, invalid("the answer is larger than 1 MiB")
	}
	if splice.ValidDeep(body) != nil {
		return r, invalid("the body is no valid JSON; send {\"action\": \"accept\", \"content\": {...}}")
	}
	scope := "once"
	object := splice.Fields(body, func(name, value []byte) bool {
		switch string(name) {
		case "action":
			r.Action = splice.Text(value)
		case "content":
			r.Content = nil
			if !splice.Null(value) {
				r.Content = append(rewrite.JSON{}, value...)
			}
		case "scope":
			scope = splice.Text(value)
		}
		return true
	})
	switch {
	case !object:
		return r, invalid("the body is no JSON object; send {\"action\": \"accept\", \"content\": {...}}")
	case r.Action != Accept && r.Action != Decline && r.Action != Cancel:
		return r, invalid("action is missing or unknown; write accept, decline or cancel")
	case scope != "once" && scope != "turn":
		return r, invalid("scope is unknown; write once or turn")
	case len(r.Content) > 0 && r.Content[0] != '{':
		return r, invalid("content is no object; write the answers by their names")
	}
	r.Turn = scope == "turn"
	return r, nil
}

// accepts makes an answer of a reply to a prompt of a kind, or says in an
// InvalidError what is wrong with it. Whoever takes a reply checks it, on whichever
// gateway the prompt waits.
func accepts(kind Kind, questions []question.Question, editable bool, r Reply) (Answer, error) {
	a := Answer{turn: r.Turn && r.Action != Cancel}
	switch r.Action {
	case Cancel:
		a.Outcome = Cancelled
		return a, nil
	case Decline:
		a.Outcome = Declined
		splice.Fields(r.Content, func(name, value []byte) bool {
			if string(name) == "reason" {
				a.Skipped, a.Reason = true, strings.TrimSpace(splice.Text(value))
			}
			return true
		})
		return a, nil
	}
	if kind == Question {
		content := r.Content
		if len(content) == 0 {
			content = rewrite.JSON(`{}`)
		}
		clean, err := question.Check(questions, content)
		if err != nil {
			return a, invalid(err.Error())
		}
		a.Content = clean
		return a, nil
	}
	return edited(a, kind, editable, r.Content)
}

// edited reads what somebody has changed before he agreed.
func edited(a Answer, kind Kind, editable bool, content rewrite.JSON) (Answer, error) {
	name := map[Kind]string{Run: "arguments", Deliver: "text"}[kind]
	var problem error
	splice.Fields(content, func(key, value []byte) bool {
		switch {
		case string(key) != name:
			problem = invalid("content can only have " + name + " here")
		case !editable:
			problem = invalid("the " + name + " of this tool cannot be changed; accept it as it is, or decline")
		case kind == Run && (len(value) == 0 || value[0] != '{'):
			problem = invalid("arguments is no object; write the arguments to change")
		case kind == Run:
			a.Arguments = append(rewrite.JSON{}, value...)
		default:
			text, ok := splice.TextOf(value)
			if !ok {
				problem = invalid("text is no string; write what the model is to read")
			}
			a.Text = &text
		}
		return problem == nil
	})
	// What is changed for one call is not meant for the next.
	a.turn = a.turn && a.Arguments == nil && a.Text == nil
	return a, problem
}

// Merge puts the members of changes into arguments in place of those of the same
// name; a null takes one out. Arguments that are no object are replaced.
func Merge(arguments, changes rewrite.JSON) rewrite.JSON {
	given := map[string][]byte{}
	var order []string
	splice.Fields(changes, func(name, value []byte) bool {
		if _, twice := given[string(name)]; !twice {
			order = append(order, string(name))
		}
		given[string(name)] = value
		return true
	})
	var w splice.Writer
	w.Open('{')
	write := func(name string, value []byte) {
		if !splice.Null(value) {
			w.Name(name)
			w.Raw(value)
		}
	}
	splice.Fields(arguments, func(name, value []byte) bool {
		if changed, ok := given[string(name)]; ok {
			write(string(name), changed)
			delete(given, string(name))
		} else {
			w.Name(string(name))
			w.Raw(value)
		}
		return true
	})
	for _, name := range order {
		if value, ok := given[name]; ok {
			write(name, value)
		}
	}
	w.Close('}')
	return w.Bytes()
}
