package continuity

import "testing"

func TestRespelled(t *testing.T) {
	message := func(exact byte) Message { return Message{Exact: Hash{exact, 1, 2, 3, exact}} }
	turn := NewTurn(&Facts{Messages: []Message{message(1), message(2), message(3)}})
	tests := map[string]struct {
		messages      []Message
		from, n, want int
	}{
		"the same and more":    {[]Message{message(1), message(2), message(3), message(4)}, 0, 4, -1},
		"one written anew":     {[]Message{message(1), message(9), message(3)}, 0, 3, 1},
		"behind what counts":   {[]Message{message(1), message(9), message(3)}, 0, 1, -1},
		"behind the one":       {[]Message{message(1), message(9), message(8)}, 2, 3, 2},
		"fewer":                {[]Message{message(1)}, 0, 3, -1},
		"the first":            {[]Message{message(7)}, 0, 1, 0},
		"nothing to look at":   {nil, 0, 3, -1},
		"none of them counted": {[]Message{message(7)}, 0, 0, -1},
	}
	for name, test := range tests {
		if got := turn.Respelled(test.messages, test.from, test.n); got != test.want {
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

func TestParamsWithout(t *testing.T) {
	var p, want Params
	p.Set([]byte("thinking"), []byte(`{}`))
	want = p
	p.Set([]byte("output_config"), []byte(`{"effort":"low"}`))
	if p == want || p.Without("output_config") != want || p.Without("nonsense") != p {
		t.Errorf("%v without one is %v", p, p.Without("output_config"))
	}
}
