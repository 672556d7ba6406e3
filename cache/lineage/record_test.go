package lineage

import (
	"bytes"
	"testing"

	"warmpath/rewrite/continuity"
)

// What a state is called, and what is remembered of the request that made it,
// makes it no other state.
func TestUnnamed(t *testing.T) {
	encoded := func(change func(*continuity.State)) []byte {
		s := &continuity.State{
			Conversation: "conv_1", Epoch: 3, Model: "m", Sent: 2, Session: "s",
			Last: &continuity.Turn{Started: 9, Reply: "msg_1", Params: continuity.Params{1, 2}, Spelled: []byte("abcd")},
		}
		change(s)
		return encode(s, func(continuity.Hash, []byte) {})
	}
	own := encoded(func(*continuity.State) {})
	for name, c := range map[string]struct {
		change func(*continuity.State)
		same   bool
	}{
		"another name":    {func(s *continuity.State) { s.Conversation = "conv_22" }, true},
		"another epoch":   {func(s *continuity.State) { s.Epoch = 4000 }, true},
		"another turn":    {func(s *continuity.State) { s.Last = &continuity.Turn{Reply: "msg_22222", Asked: true} }, true},
		"no turn":         {func(s *continuity.State) { s.Last = nil }, true},
		"another model":   {func(s *continuity.State) { s.Model = "n" }, false},
		"another length":  {func(s *continuity.State) { s.Sent = 4 }, false},
		"another session": {func(s *continuity.State) { s.Session = "" }, false},
	} {
		other := encoded(c.change)
		if bytes.Equal(own, other) {
			t.Errorf("%s: it is not written", name)
		}
		if bytes.Equal(unnamed(own), unnamed(other)) != c.same {
			t.Errorf("%s: the same is %t", name, !c.same)
		}
	}
	if unnamed(own[:4]) != nil {
		t.Error("a cut record has a rest")
	}
}
