package rewrite

// Failure is an error that the gateway itself reports to a client. Message is
// public: it says what is wrong, where (a JSON path or a byte offset), and what
// to do, and never holds a secret. Cause is private and is only logged.
type Failure struct {
	Reason  Reason
	Message string
	Cause   error
	// Param is the member of the request that is at fault, and Code the vendor's
	// word for what is wrong, for clients that look for them; mostly empty.
	Param, Code string
}

// Error makes a Failure an error; it is the public message.
func (f *Failure) Error() string { return f.Message }

// Unwrap gives the private cause to errors.Is and errors.As.
func (f *Failure) Unwrap() error { return f.Cause }

// Reason is the closed set of things that can go wrong between a client and a
// provider. It decides status, retry and metric label.
type Reason uint8

// The reasons. ReasonNone marks a request that went well; ReasonProvider one
// whose provider answered with an error of its own.
const (
	ReasonNone Reason = iota
	ReasonProvider
	ReasonBadRequest
	ReasonUnauthorized
	ReasonForbidden
	ReasonNotFound
	ReasonMethod
	ReasonTooLarge
	ReasonHeadersTooLarge
	ReasonBusy
	ReasonTimeout
	ReasonClientGone
	ReasonUnreachable
	ReasonUpstreamTimeout
	ReasonUpstreamBroken
	ReasonStreamCut
	ReasonDraining
	ReasonInternal
)

// Reasons lists every reason for tables and metric labels.
var Reasons = []Reason{
	ReasonNone, ReasonProvider, ReasonBadRequest, ReasonUnauthorized, ReasonForbidden,
	ReasonNotFound, ReasonMethod, ReasonTooLarge, ReasonHeadersTooLarge, ReasonBusy,
	ReasonTimeout, ReasonClientGone, ReasonUnreachable, ReasonUpstreamTimeout,
	ReasonUpstreamBroken, ReasonStreamCut, ReasonDraining, ReasonInternal,
}

var reasons = [...]struct {
	label  string
	status int
}{
	ReasonNone:            {"none", 200},
	ReasonProvider:        {"provider", 502},
	ReasonBadRequest:      {"bad_request", 400},
	ReasonUnauthorized:    {"unauthorized", 401},
	ReasonForbidden:       {"forbidden", 403},
	ReasonNotFound:        {"not_found", 404},
	ReasonMethod:          {"method", 405},
	ReasonTooLarge:        {"too_large", 413},
	ReasonHeadersTooLarge: {"headers_too_large", 431},
	ReasonBusy:            {"busy", 503},
	ReasonTimeout:         {"client_timeout", 408},
	ReasonClientGone:      {"client_gone", 499},
	ReasonUnreachable:     {"unreachable", 502},
	ReasonUpstreamTimeout: {"upstream_timeout", 504},
	ReasonUpstreamBroken:  {"upstream_broken", 502},
	ReasonStreamCut:       {"stream_cut", 502},
	ReasonDraining:        {"draining", 503},
	ReasonInternal:        {"internal", 500},
}

// String is the reason's metric label.
func (r Reason) String() string { return reasons[r].label }

// Status is the HTTP status that a failure of this reason is answered with.
// ReasonClientGone has 499, which is only ever recorded.
func (r Reason) Status() int { return reasons[r].status }
