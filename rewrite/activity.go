package rewrite

import (
	"slices"
	"strings"
)

// Capabilities are what tools that a provider runs can do, as names of Hosted
// and as metric labels.
var Capabilities = []string{
	"web_search", "web_fetch", "code_execution", "file_search", "image_generation", "mcp",
	"computer", "shell", "maps", "tool_search", "advisor", "other",
}

// Activity counts what a reply tells of tools that the provider ran itself, and
// of its sources. It holds neither what they were asked nor what they gave.
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

// What is kept of one reply's activities, and of the identifier of one.
const (
	mostActivities = 256
	longestID      = 128
)

// Begin notes that an activity has begun. One that is known already has not begun
// again.
func (r *Report) Begin(id, name string) {
	a := r.activity()
	if a.find(id, name) != nil && id != "" {
		return
	}
	a.add(HostedActivity{ID: id, Name: name, Began: true})
}

// End notes that an activity has completed or failed, whether it is known to have
// begun or not. The first end of an activity counts.
func (r *Report) End(id, name string, failed bool) {
	a := r.activity()
	state := HostedCompleted
	if failed {
		state = HostedFailed
	}
	known := a.find(id, name)
	switch {
	case known == nil:
		a.add(HostedActivity{ID: id, Name: name, State: state})
	case known.State == HostedStarted:
		known.State = state
	}
}

// Call notes the number of calls that the provider reports so far.
func (r *Report) Call(name string, n int64) {
	if n < 0 || n == 0 && r.Activity == nil {
		return
	}
	a := r.activity()
	for i := range a.Calls {
		if a.Calls[i].Name == name {
			a.Calls[i].N = n
			return
		}
	}
	if len(a.Calls) < mostActivities {
		a.Calls = append(a.Calls, HostedCalls{name, n})
	}
}

// Cite notes n sources of a text that is under way.
func (r *Report) Cite(n int) {
	if n > 0 {
		r.activity().Citing += n
	}
}

// Said notes that the text under way is complete.
func (r *Report) Said() {
	if a := r.Activity; a != nil {
		a.Cited, a.Citing = a.Cited+a.Citing, 0
	}
}

// activity is there once there is something to count.
func (r *Report) activity() *Activity {
	if r.Activity == nil {
		r.Activity = &Activity{}
	}
	return r.Activity
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

// find gives a known activity: by its identifier, or where the provider gives none
// the newest of its name that is under way.
func (a *Activity) find(id, name string) *HostedActivity {
	if len(id) > longestID {
		id = id[:longestID]
	}
	for i := len(a.Hosted) - 1; i >= 0; i-- {
		if h := &a.Hosted[i]; h.ID == id && (id != "" || h.Name == name && h.State == HostedStarted) {
			return h
		}
	}
	return nil
}

func (a *Activity) add(h HostedActivity) {
	if len(a.Hosted) == mostActivities {
		a.Unlisted++
		return
	}
	if len(h.ID) > longestID {
		h.ID = strings.Clone(h.ID[:longestID])
	}
	if !slices.Contains(Capabilities, h.Name) {
		h.Name = "other"
	}
	a.Hosted = append(a.Hosted, h)
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
