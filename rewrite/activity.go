package rewrite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Capabilities are what tools that a provider runs can do, as names of Hosted
// and as metric labels.
var Capabilities = []string{
	"web_search", "web_fetch", "code_execution", "file_search", "image_generation", "mcp",
	"computer", "shell", "maps", "tool_search", "advisor", "other",
}

// Activity counts what a reply tells of tools that the provider ran itself, and
// of its sources. It holds neither what they were asked nor what they gave. Like
// the rest of a Report it is a value: what has been read stays as it is, and a
// Report that reads on gets another.
type Activity struct {
	// Hosted are the activities in the order in which the reply first told of
	// them.
	Hosted []HostedActivity
	// Unlisted is how many more tellings there were than Hosted holds.
	Unlisted int
	// Calls are the numbers of calls that the provider itself reports.
	Calls []HostedCalls
	// Cited is how many sources were named for texts that are complete, and Citing
	// for those under way. RangesDropped is how many of them were of a place that
	// the text does not have.
	Cited, Citing, RangesDropped int
	// Places are marks of what was cited, where a provider repeats itself.
	Places []uint64
}

// HostedActivity is how far one activity has come.
type HostedActivity struct {
	// ID is the provider's, and Name one of Capabilities.
	ID, Name string
	// Began is false where the reply told of the end only: an earlier one began
	// it, or the provider never says.
	Began bool
	State HostedState
}

// HostedCalls is a number of calls of one of Capabilities.
type HostedCalls struct {
	Name string
	N    int64
}

// What is kept of one reply's activities, of the identifier of one, and of places.
const (
	mostActivities = 256
	longestID      = 128
	mostPlaces     = 1024
)

// Begin notes that an activity has begun. One that is known already has not begun
// again.
func (r *Report) Begin(id, name string) {
	if id = shortID(id); id == "" || r.Activity.find(id, name) < 0 {
		r.activity().add(HostedActivity{ID: id, Name: name, Began: true})
	}
}

// End notes that an activity has completed or failed, whether it is known to have
// begun or not. The first end of an activity counts.
func (r *Report) End(id, name string, failed bool) {
	state := HostedCompleted
	if failed {
		state = HostedFailed
	}
	id = shortID(id)
	switch at := r.Activity.find(id, name); {
	case at < 0:
		r.activity().add(HostedActivity{ID: id, Name: name, State: state})
	case r.Activity.Hosted[at].State == HostedStarted:
		a := r.activity()
		a.Hosted = slices.Clone(a.Hosted)
		a.Hosted[at].State = state
	}
}

// Run notes an activity that is told of as a whole: it has begun and ended.
func (r *Report) Run(id, name string, failed bool) {
	if r.Activity.find(shortID(id), name) < 0 {
		r.Begin(id, name)
	}
	r.End(id, name, failed)
}

// Call notes the number of calls that the provider reports so far.
func (r *Report) Call(name string, n int64) {
	if n < 0 || n == 0 && r.Activity == nil {
		return
	}
	name = known(name)
	a := r.activity()
	a.Calls = slices.Clone(a.Calls)
	for i := range a.Calls {
		if a.Calls[i].Name == name {
			a.Calls[i].N = n
			return
		}
	}
	if len(a.Calls) < len(Capabilities) {
		a.Calls = append(a.Calls, HostedCalls{name, n})
	}
}

// Cite notes n sources of a text that is under way.
func (r *Report) Cite(n int) {
	if n > 0 {
		r.activity().Citing += n
	}
}

// CiteOnce notes a source of a text under way, unless one with the same mark was
// noted before.
func (r *Report) CiteOnce(mark uint64) {
	if r.Activity != nil && slices.Contains(r.Activity.Places, mark) {
		return
	}
	a := r.activity()
	a.Citing++
	if len(a.Places) < mostPlaces {
		a.Places = append(slices.Clip(a.Places), mark)
	}
}

// Misplaced notes a source whose place is not in its text.
func (r *Report) Misplaced() { r.activity().RangesDropped++ }

// Said notes that the text under way is complete.
func (r *Report) Said() {
	if r.Activity != nil && r.Activity.Citing > 0 {
		a := r.activity()
		a.Cited, a.Citing = a.Cited+a.Citing, 0
	}
}

// SaidWith notes a text that is complete, with all its sources: those that came
// for it one by one are among them.
func (r *Report) SaidWith(sources, dropped int) {
	if r.Activity != nil {
		sources = max(sources, r.Activity.Citing)
	}
	if sources > 0 {
		a := r.activity()
		a.Cited, a.Citing, a.RangesDropped = a.Cited+sources, 0, a.RangesDropped+dropped
	}
}

// SaidAll notes that all texts of a reply are complete, with all their sources;
// none means that they are not told together.
func (r *Report) SaidAll(sources, dropped int) {
	if sources > 0 {
		a := r.activity()
		a.Cited, a.Citing, a.RangesDropped = max(a.Cited+a.Citing, sources), 0, max(a.RangesDropped, dropped)
	}
}

// activity is one of the Report's own, with what was read before.
func (r *Report) activity() *Activity {
	var own Activity
	if r.Activity != nil {
		own = *r.Activity
	}
	r.Activity = &own
	return &own
}

// Abandoned reports whether an activity was begun in a reply that is over, and
// will not end any more: a turn that pauses, or that waits for the client's tools,
// goes on with its next reply.
func (r *Report) Abandoned(a *HostedActivity) bool {
	return a.State == HostedStarted && r.Stop != StopPause && r.Stop != StopTools
}

// StateOf is how far an activity has come when its reply is over: abandoned, or
// its state.
func (r *Report) StateOf(a *HostedActivity) string {
	if r.Abandoned(a) {
		return "abandoned"
	}
	return a.State.String()
}

// find gives a known activity, or -1: by its identifier, or where the provider
// gives none the newest of its name that is under way.
func (a *Activity) find(id, name string) int {
	if a == nil {
		return -1
	}
	for i := len(a.Hosted) - 1; i >= 0; i-- {
		if h := &a.Hosted[i]; h.ID == id && (id != "" || h.Name == known(name) && h.State == HostedStarted) {
			return i
		}
	}
	return -1
}

func (a *Activity) add(h HostedActivity) {
	if len(a.Hosted) == mostActivities {
		a.Unlisted++
		return
	}
	h.Name = known(h.Name)
	a.Hosted = append(slices.Clip(a.Hosted), h)
}

// shortID is the beginning of an identifier that is kept, without what a terminal
// would take for more than text: it is shown to people.
func shortID(id string) string {
	if len(id) > longestID {
		id = strings.Clone(id[:longestID])
	}
	return Visible(id)
}

// Visible is a stranger's text as it can be shown to people: what moves a cursor,
// hides text or turns it around is a question mark.
func Visible(text string) string {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f {
			return strings.Map(func(r rune) rune {
				if r == utf8.RuneError || !unicode.IsGraphic(r) {
					return '?'
				}
				return r
			}, text)
		}
	}
	return text
}

// known is a name of Capabilities.
func known(name string) string {
	if slices.Contains(Capabilities, name) {
		return name
	}
	return "other"
}

// Charged yields how many calls of each capability a provider charges for: those
// that it reports, and of the others those that have completed. Failed ones are
// free.
func (a *Activity) Charged(yield func(name string, calls int64) bool) {
	if a == nil {
		return
	}
	for _, c := range a.Calls {
		if !yield(c.Name, c.N) {
			return
		}
	}
	for i, h := range a.Hosted {
		same := func(o HostedActivity) bool { return o.Name == h.Name }
		if slices.ContainsFunc(a.Calls, func(c HostedCalls) bool { return c.Name == h.Name }) || slices.ContainsFunc(a.Hosted[:i], same) {
			continue
		}
		var calls int64
		for _, o := range a.Hosted[i:] {
			if same(o) && o.State == HostedCompleted {
				calls++
			}
		}
		if calls > 0 && !yield(h.Name, calls) {
			return
		}
	}
}
