package rewrite_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/sse"
)

// heard counts what the events of a reply tell of hosted tools and of sources.
type heard struct {
	report  rewrite.Report
	sources int
}

func (h *heard) add(e *rewrite.Event) {
	switch {
	case e.Kind == rewrite.EventAttribution:
		h.sources++
	case e.Kind == rewrite.EventEnd:
		h.report.Stop = e.Stop.Reason
	case e.Kind != rewrite.EventItem && e.Kind != rewrite.EventDone, e.Item.Kind != rewrite.ItemHosted:
	case e.Kind == rewrite.EventDone && e.Item.Hosted.State != rewrite.HostedStarted:
		h.report.End(e.Item.Hosted.ID, e.Item.Hosted.Name, e.Item.Hosted.State == rewrite.HostedFailed)
	case e.Kind == rewrite.EventItem && e.Item.Hosted.State == rewrite.HostedStarted:
		h.report.Begin(e.Item.Hosted.ID, e.Item.Hosted.Name)
	}
}

// text is what was heard, or what a tap has read, a line for each thing.
func (h *heard) text() (text string) {
	if a := h.report.Activity; a != nil {
		for i := range a.Hosted {
			text += fmt.Sprintf("%+v %s\n", a.Hosted[i], h.report.StateOf(&a.Hosted[i]))
		}
	}
	return text + fmt.Sprintf("%d sources\n", h.sources)
}

// What the tap counts of bytes that pass is what a translation of them tells.
func TestTapHearsWhatTheDecoderTells(t *testing.T) {
	told, hosted, cited := 0, 0, 0
	for kind, d := range dialects {
		of := crossers[kind]
		eachGoldenOf(t, kind, func(t *testing.T, g golden) {
			var events heard
			r := d.tap(g.stream, max(len(g.stream), 1))
			if g.stream != "" {
				decoder, s := of.decoder("home"), sse.Splitter{Bare: true}
				read := func(e sse.Event) { decoder.Event(e.Name, e.Data, events.add) }
				s.Feed([]byte(g.stream), read)
				s.Close(read)
				decoder.Close(events.add)
			} else {
				d.readReply([]byte(g.reply), &r)
				if err := of.decodeReply([]byte(g.reply), "home", events.add); err != nil {
					t.Skip(err)
				}
			}
			if !r.Ended || r.Failed {
				return // What was cut is told as far as each has come.
			}
			told++
			tap := heard{report: r}
			if a := r.Activity; a != nil {
				tap.sources = a.Cited + a.Citing
				cited += tap.sources
				if hosted += len(a.Hosted); len(a.Hosted) > 0 && a.Hosted[0].ID == "usage" {
					// Only the usage shows it, which names no activity.
					tap.report.Activity = nil
				}
			}
			if diff := cmp.Diff(events.text(), tap.text()); diff != "" {
				t.Errorf("the decoder (-) and the tap (+) differ: %s", diff)
			}
		})
	}
	if told < 40 || hosted < 15 || cited < 10 {
		t.Errorf("only %d replies, %d hosted activities, %d sources", told, hosted, cited)
	}
}

// HA-02, HA-04, HA-07: activities are told apart by their identifiers, where they
// have some, and their first end counts.
func TestActivities(t *testing.T) {
	type step struct {
		id, name string
		how      string
	}
	begin, end, fail, run := "begin", "end", "fail", "run"
	for name, c := range map[string]struct {
		steps []step
		want  []rewrite.HostedActivity
	}{
		"HA-07 interleaved": {
			[]step{{"a", "web_search", begin}, {"b", "web_search", begin}, {"a", "web_search", end}, {"b", "web_search", fail}},
			[]rewrite.HostedActivity{{"a", "web_search", true, rewrite.HostedCompleted}, {"b", "web_search", true, rewrite.HostedFailed}},
		},
		"HA-04 ended twice": {
			[]step{{"a", "mcp", begin}, {"a", "mcp", fail}, {"a", "mcp", end}},
			[]rewrite.HostedActivity{{"a", "mcp", true, rewrite.HostedFailed}},
		},
		"begun twice":   {[]step{{"a", "mcp", begin}, {"a", "mcp", begin}}, []rewrite.HostedActivity{{"a", "mcp", true, rewrite.HostedStarted}}},
		"never begun":   {[]step{{"a", "mcp", end}}, []rewrite.HostedActivity{{"a", "mcp", false, rewrite.HostedCompleted}}},
		"as a whole":    {[]step{{"a", "mcp", run}, {"a", "mcp", run}}, []rewrite.HostedActivity{{"a", "mcp", true, rewrite.HostedCompleted}}},
		"of no name":    {[]step{{"a", "new_thing", begin}}, []rewrite.HostedActivity{{"a", "other", true, rewrite.HostedStarted}}},
		"without names": {[]step{{"", "new", begin}, {"", "new", end}, {"", "shell", end}}, []rewrite.HostedActivity{{"", "other", true, rewrite.HostedCompleted}, {"", "shell", false, rewrite.HostedCompleted}}},
		"none is named": {
			[]step{{"", "shell", begin}, {"", "shell", begin}, {"", "shell", end}},
			[]rewrite.HostedActivity{{"", "shell", true, rewrite.HostedStarted}, {"", "shell", true, rewrite.HostedCompleted}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var r rewrite.Report
			for _, s := range c.steps {
				before := r
				had := fmt.Sprintf("%+v", before.Activity)
				switch s.how {
				case begin:
					r.Begin(s.id, s.name)
				case run:
					r.Run(s.id, s.name, false)
				default:
					r.End(s.id, s.name, s.how == fail)
				}
				if now := fmt.Sprintf("%+v", before.Activity); now != had {
					t.Errorf("a report that was read before has changed: %s, was %s", now, had)
				}
			}
			if diff := cmp.Diff(c.want, r.Activity.Hosted); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A reply cannot make its report grow without bound.
func TestActivitiesAreBounded(t *testing.T) {
	var r rewrite.Report
	for i := range 2000 {
		r.Begin(fmt.Sprint(i), "mcp")
		r.CiteOnce(uint64(i))
	}
	if a := r.Activity; len(a.Hosted) > 300 || len(a.Hosted)+a.Unlisted != 2000 || len(a.Places) > 1100 || a.Citing != 2000 {
		t.Errorf("%d listed, %d not, %d places, %d sources", len(a.Hosted), a.Unlisted, len(a.Places), a.Citing)
	}
}

// What is charged for is what the provider counts, or else what has completed.
func TestCharged(t *testing.T) {
	var r rewrite.Report
	r.Run("a", "web_search", false)
	r.Run("b", "web_search", false)
	r.Call("web_search", 1)
	r.Run("c", "mcp", false)
	r.Run("d", "mcp", true)
	r.Begin("e", "mcp")
	r.Run("f", "shell", true)
	got := map[string]int64{}
	for name, calls := range r.Activity.Charged {
		got[name] += calls
	}
	if diff := cmp.Diff(map[string]int64{"web_search": 1, "mcp": 1}, got); diff != "" {
		t.Error(diff)
	}
	for name := range (*rewrite.Activity)(nil).Charged {
		t.Errorf("nothing is charged for %s", name)
	}
}
