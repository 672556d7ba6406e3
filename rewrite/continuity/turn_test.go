package continuity

import "testing"

func TestRespelled(t *testing.T) {
	message := func(exact byte) Message { return Message{Exact: Hash{exact, 1, 2, 3, exact}} }
	turn := NewTurn(&Facts{Messages: []Message{message(1), message(2), message(3)}})
	tests := map[string]struct {
		messages []Message
		n, want  int
	}{
		"the same and more":    {[]Message{message(1), message(2), message(3), message(4)}, 4, -1},
		"one written anew":     {[]Message{message(1), message(9), message(3)}, 3, 1},
		"behind what counts":   {[]Message{message(1), message(9), message(3)}, 1, -1},
		"fewer":                {[]Message{message(1)}, 3, -1},
		"the first":            {[]Message{message(7)}, 1, 0},
		"nothing to look at":   {nil, 3, -1},
		"none of them counted": {[]Message{message(7)}, 0, -1},
	}
	for name, test := range tests {
		if got := turn.Respelled(test.messages, test.n); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestBetasAreASet(t *testing.T) {
	set := func(headers ...string) (digest uint64) {
		for _, header := range headers {
			digest = AddBetas(digest, []byte(header))
		}
		return digest
	}
	if set("a", "b") != set("b, a,", "") || set("a") == set("a,b") || set(" ") != 0 || set("ab") == set("a", "b") {
		t.Error("the digest is not that of a set")
	}
}
