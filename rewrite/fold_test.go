package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func wholeReply() *rewrite.Reply {
	return &rewrite.Reply{
		ID: "r1", Model: "m", Created: 7,
		Items: []rewrite.Item{
			{Kind: rewrite.ItemReasoning, ID: "rs", Parts: []rewrite.Part{{Kind: rewrite.PartSummary, Text: "hm"}},
				Payload: rewrite.Payload{Provider: "p", Format: "f", Value: rewrite.JSON(`{"a":1}`)}},
			{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "h", Name: "web_search", State: rewrite.HostedCompleted, Input: rewrite.JSON(`{"q":1}`)}},
			{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{
				{Text: "one", Attributions: []rewrite.Attribution{{URL: "https://a.example", Start: 0, End: 3}}},
				{Text: "two"},
			}},
			{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c", Name: "n", Arguments: rewrite.JSON(`{"z":1,"a":2}`)}},
		},
		Usage: rewrite.Usage{InputTotal: rewrite.Tokens(10), OutputTotal: rewrite.Tokens(2)},
		Stop:  rewrite.Stop{Reason: rewrite.StopTools, Word: "tool_use"},
	}
}

func TestFoldedIsWhatWasTold(t *testing.T) {
	var f rewrite.Fold
	wholeReply().Tell(f.Add)
	if diff := cmp.Diff(wholeReply(), f.Reply()); diff != "" {
		t.Error(diff)
	}
}

// However a text is cut, and whatever else is open beside it, it is one text.
func TestFoldOfItemsSideBySide(t *testing.T) {
	var f rewrite.Fold
	for _, e := range []rewrite.Event{
		{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{ID: "r"}},
		{Kind: rewrite.EventItem, Index: 0, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}},
		{Kind: rewrite.EventPart, Index: 0, Part: &rewrite.Part{}},
		{Kind: rewrite.EventText, Index: 0, Text: []byte("he")},
		{Kind: rewrite.EventItem, Index: 1, Item: &rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c"}}},
		{Kind: rewrite.EventArguments, Index: 1, Text: []byte(`{"a`)},
		{Kind: rewrite.EventText, Index: 0, Text: []byte("llo")},
		{Kind: rewrite.EventText, Index: 9, Text: []byte("nobody's")},
		{Kind: rewrite.EventText, Index: 0, PartIndex: 3, Text: []byte("nobody's")},
		{Kind: rewrite.EventArguments, Index: 1, Text: []byte(`":1}`)},
		{Kind: rewrite.EventPartDone, Index: 0, Part: &rewrite.Part{MIME: "text/plain"}},
		{Kind: rewrite.EventDone, Index: 0, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, ID: "m"}},
		{Kind: rewrite.EventText, Index: 0, Text: []byte("too late")},
	} {
		f.Add(&e)
	}
	want := &rewrite.Reply{ID: "r", Items: []rewrite.Item{
		{Kind: rewrite.ItemMessage, ID: "m", Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "hello", MIME: "text/plain"}}},
		{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c", Arguments: rewrite.JSON(`{"a":1}`)}, Incomplete: true},
	}}
	if diff := cmp.Diff(want, f.Reply()); diff != "" {
		t.Error(diff)
	}
}

// ST-02, ST-03: what was cut says so, with the sources that it had or without.
func TestFoldOfACutReply(t *testing.T) {
	var f rewrite.Fold
	for _, e := range []rewrite.Event{
		{Kind: rewrite.EventItem, Item: &rewrite.Item{Kind: rewrite.ItemMessage}},
		{Kind: rewrite.EventPart, Part: &rewrite.Part{}},
		{Kind: rewrite.EventText, Text: []byte("cited")},
		{Kind: rewrite.EventAttribution, Attribution: &rewrite.Attribution{URL: "u"}},
		{Kind: rewrite.EventError, Fault: &rewrite.Fault{Type: "overloaded"}},
	} {
		f.Add(&e)
	}
	want := &rewrite.Reply{Fault: &rewrite.Fault{Type: "overloaded"}, Items: []rewrite.Item{{
		Incomplete: true, Parts: []rewrite.Part{{Text: "cited", Attributions: []rewrite.Attribution{{URL: "u", Incomplete: true}}}},
	}}}
	if diff := cmp.Diff(want, f.Reply()); diff != "" {
		t.Error(diff)
	}
}

// ST-04: of a text that was cut, the parts that had ended are whole.
func TestFoldOfACutBetweenParts(t *testing.T) {
	var f rewrite.Fold
	for _, e := range []rewrite.Event{
		{Kind: rewrite.EventItem, Item: &rewrite.Item{Kind: rewrite.ItemMessage}},
		{Kind: rewrite.EventPart, Part: &rewrite.Part{}},
		{Kind: rewrite.EventAttribution, Attribution: &rewrite.Attribution{URL: "a"}},
		{Kind: rewrite.EventPartDone, Part: &rewrite.Part{}},
		{Kind: rewrite.EventPart, PartIndex: 1, Part: &rewrite.Part{}},
		{Kind: rewrite.EventAttribution, PartIndex: 1, Attribution: &rewrite.Attribution{URL: "b"}},
	} {
		f.Add(&e)
	}
	want := []rewrite.Part{{Attributions: []rewrite.Attribution{{URL: "a"}}}, {Attributions: []rewrite.Attribution{{URL: "b", Incomplete: true}}}}
	got := f.Reply().Items[0]
	if diff := cmp.Diff(want, got.Parts); diff != "" || !got.Incomplete {
		t.Error(diff, got.Incomplete)
	}
}

// What an event points to is gone after the call: a fold keeps copies.
func TestFoldKeepsCopies(t *testing.T) {
	var f rewrite.Fold
	wholeReply().Tell(func(e *rewrite.Event) {
		kept := e.Keep()
		e = &kept // the events of one item share memory
		f.Add(e)
		for _, text := range [][]byte{e.Text, payload(e.Item), payload(e.Part), payload(e.Attribution)} {
			for i := range text {
				text[i] = 'x'
			}
		}
	})
	if diff := cmp.Diff(wholeReply(), f.Reply()); diff != "" {
		t.Error(diff)
	}
}

func payload[T rewrite.Item | rewrite.Part | rewrite.Attribution](of *T) []byte {
	if of == nil {
		return nil
	}
	switch of := any(of).(type) {
	case *rewrite.Item:
		return of.Payload.Value
	case *rewrite.Part:
		return of.Payload.Value
	case *rewrite.Attribution:
		return of.Payload.Value
	}
	return nil
}

func TestPayloadFor(t *testing.T) {
	for name, c := range map[string]struct {
		payload rewrite.Payload
		want    bool
	}{
		"its own":          {rewrite.Payload{Provider: "a", Format: "messages/thinking", Value: rewrite.JSON("1")}, true},
		"the client's":     {rewrite.Payload{Format: "messages/document", Value: rewrite.JSON("1")}, true},
		"nothing":          {rewrite.Payload{Provider: "a", Format: "messages/thinking"}, false},
		"another's":        {rewrite.Payload{Provider: "b", Format: "messages/thinking", Value: rewrite.JSON("1")}, false},
		"another dialect":  {rewrite.Payload{Provider: "a", Format: "responses/reasoning", Value: rewrite.JSON("1")}, false},
		"a dialect's name": {rewrite.Payload{Provider: "a", Format: "messages", Value: rewrite.JSON("1")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.payload.For("a", rewrite.Messages); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
