package prompt

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"warmpath/gateway/question"
)

// View is what there is to see of a prompt: no answer, no credential, and nothing of
// arguments that looks like a secret.
type View struct {
	ID string `json:"id"`
	// State is open, or the outcome.
	State        string   `json:"state"`
	Kind         string   `json:"kind"`
	Conversation string   `json:"conversation,omitempty"`
	Path         []string `json:"path,omitempty"`
	Tool         Tool     `json:"tool"`
	// Arguments is the part of a call's arguments that is shown, and Result the same of
	// the result that is to be delivered.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result,omitempty"`
	// Editable says that the arguments or the result may be changed with the answer.
	Editable bool `json:"editable,omitempty"`
	// Message stands above the Questions of a tool, and Schema is the form that answers
	// are checked against.
	Message   string          `json:"message,omitempty"`
	Questions json.RawMessage `json:"questions,omitempty"`
	Schema    json.RawMessage `json:"schema,omitempty"`
	Opened    time.Time       `json:"opened"`
	Expires   time.Time       `json:"expires"`
	// By is who has answered: the operator or a client.
	By string `json:"by,omitempty"`
}

// Tool is the tool that a prompt is about.
type Tool struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
}

const stateOpen = "open"

// record is a prompt as gateways tell each other of it.
type record struct {
	View
	// Tenant is the digest of the credential that may answer.
	Tenant string `json:"tenant"`
	// Key is the public key that answers are sealed to on their way.
	Key []byte `json:"key,omitempty"`

	kind      Kind
	questions []question.Question
}

// newRecord describes a prompt that opens now.
func newRecord(s *Session, p Prompt, editable bool, expiry time.Duration) record {
	now := time.Now()
	r := record{
		View: View{
			ID: "p_" + newName(), State: stateOpen, Kind: p.Kind().String(),
			Conversation: s.Conversation, Path: s.Path, Tool: Tool{Name: p.Tool(), Source: p.source()},
			Editable: editable, Opened: now.UTC(), Expires: now.Add(expiry).UTC(),
		},
		Tenant: s.Tenant, kind: p.Kind(), questions: p.Questions(),
	}
	p.show(&r.View)
	return r
}

// life is how long the prompt is pinned if its gateway does not say again that it is
// open: one that was killed waits for no answer.
func (r *record) life() time.Duration { return min(leaseLife, time.Until(r.Expires)+recordMargin) }

// newName is a name that nobody can guess.
func newName() string { return strings.ToLower(rand.Text()) }

func (r *record) encode() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("BUG: a prompt that is no JSON: " + err.Error())
	}
	return text
}

// decodeRecord reads what another gateway has told.
func decodeRecord(text []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("reading a prompt: %w", err)
	}
	for _, kind := range Kinds {
		if kind.String() == r.View.Kind {
			r.kind = kind
		}
	}
	if len(r.Questions) > 0 {
		var err error
		if r.questions, err = question.Decode([]byte(r.Questions)); err != nil {
			return nil, fmt.Errorf("reading a prompt: %w", err)
		}
	}
	return r, nil
}

// Who is somebody that looks at prompts or answers them: the operator, or whoever
// shows the credential of a session.
type Who struct {
	Operator bool
	// Tenant is the digest of the credential.
	Tenant string
}

// sees reports whether somebody may see and answer prompts of a tenant.
func (w Who) sees(tenant string) bool {
	return w.Operator || subtle.ConstantTimeCompare([]byte(w.Tenant), []byte(tenant)) == 1
}

// name is who it is, for the record.
func (w Who) name() string {
	if w.Operator {
		return "operator"
	}
	return "client"
}

// Filter selects prompts.
type Filter struct {
	Who Who
	// Conversation is the one that they belong to; empty for all.
	Conversation string
	// State is that of a View; empty for all.
	State string
}

func (f *Filter) matches(r *record) bool {
	return f.Who.sees(r.Tenant) && f.hears(r.Conversation) && (f.State == "" || f.State == r.State)
}

// hears reports whether the filter lets a conversation through.
func (f *Filter) hears(conversation string) bool {
	return f.Conversation == "" || f.Conversation == conversation
}
