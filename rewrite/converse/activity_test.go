package converse_test

import (
	"fmt"
	"testing"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/sse"
)

// What the tap counts of bytes that pass is what a translation of them tells.
func TestTapHearsWhatTheDecoderTells(t *testing.T) {
	hosted, cited := 0, 0
	each(t, func(t *testing.T, _ *show.File, stream []byte, _ string) {
		var told, r rewrite.Report
		if err := events(stream, len(stream)+1, func(e *rewrite.Event) {
			switch {
			case e.Kind == rewrite.EventAttribution:
				told.Cite(1)
			case e.Kind != rewrite.EventItem && e.Kind != rewrite.EventDone, e.Item.Kind != rewrite.ItemHosted:
			case e.Kind == rewrite.EventDone && e.Item.Hosted.State != rewrite.HostedStarted:
				told.End(e.Item.Hosted.ID, e.Item.Hosted.Name, e.Item.Hosted.State == rewrite.HostedFailed)
			case e.Kind == rewrite.EventItem && e.Item.Hosted.State == rewrite.HostedStarted:
				told.Begin(e.Item.Hosted.ID, e.Item.Hosted.Name)
			}
		}); err != nil {
			t.Fatal(err)
		}
		told.Said()
		var s converse.Splitter
		s.Feed(stream, func(e sse.Event) { converse.ReadEvent(e.Name, e.Data, &r) })
		r.Said()
		if told.Activity == nil || r.Activity == nil {
			if told.Activity != r.Activity {
				t.Errorf("told %+v, read %+v", told.Activity, r.Activity)
			}
			return
		}
		hosted, cited = hosted+len(r.Activity.Hosted), cited+r.Activity.Cited
		if got, want := fmt.Sprintf("%+v", *r.Activity), fmt.Sprintf("%+v", *told.Activity); got != want {
			t.Errorf("told %s, read %s", want, got)
		}
	})
	if hosted == 0 || cited == 0 {
		t.Errorf("%d hosted activities, %d sources: nothing was compared", hosted, cited)
	}
}
