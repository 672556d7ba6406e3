package relay

import (
	"strings"
	"testing"

	"warmpath/rewrite/continuity"
)

func TestMend(t *testing.T) {
	const (
		start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"input_transformations\":[{\"path\":\"messages.3.content.0\"}],\"content\":[]}}\n\n"
		text  = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"input_transformations messages.3\"}}\n\n"
		fault = "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"messages.3: no\"}}\n\n"
		whole = `{"type":"message","content":[{"type":"text","text":"messages.3"}],"input_transformations":[{"path":"messages.3.content.0"}]}`
	)
	const (
		ping      = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
		diagnosed = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"diagnostics\":null,\"content\":[]}}\n\n"
		said      = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"diagnostics\"}}\n\n"
	)
	// The gateway's message stands behind the client's second.
	moved := &continuity.Plan{Drop: true, Inserts: []continuity.Edit{{After: 2}}}
	tests := map[string]struct {
		plan   *continuity.Plan
		asks   bool
		asked  bool // why the cache missed
		status int
		in     string
		want   string
	}{
		"not asked for, in a stream": {plan: moved, in: start + text, want: strings.Replace(start, `,"input_transformations":[{"path":"messages.3.content.0"}]`, "", 1) + text},
		"asked for, in a stream":     {plan: moved, asks: true, in: start + text, want: strings.Replace(start, "messages.3", "messages.2", 1) + text},
		"not asked for, whole":       {plan: moved, in: whole, want: `{"type":"message","content":[{"type":"text","text":"messages.3"}]}`},
		"asked for, whole":           {plan: moved, asks: true, in: whole, want: strings.Replace(whole, "messages.3.", "messages.2.", 1)},
		"an error in a stream":       {plan: moved, in: text + fault, want: text + strings.Replace(fault, "messages.3", "messages.2", 1)},
		"an error":                   {plan: moved, status: 400, in: `{"error":{"message":"messages.0: and messages.4.content"}}`, want: `{"error":{"message":"messages.0: and messages.3.content"}}`},
		"nothing inserted":           {plan: &continuity.Plan{}, in: start + text, want: start + text},
		"data in two lines":          {plan: moved, in: "data: {\"input_transformations\":\ndata: 1}\n\n", want: "data: {\"input_transformations\":\ndata: 1}\n\n"},
		"a stream that was cut":      {plan: moved, in: text + "event: message_start\ndata: {\"input_transformations\"", want: text + "event: message_start\ndata: {\"input_transformations\""},
		"a diagnosis, in a stream":   {plan: &continuity.Plan{}, asked: true, in: ping + diagnosed + said + diagnosed, want: ping + strings.Replace(diagnosed, `"diagnostics":null,`, "", 1) + said + diagnosed},
		"a diagnosis, whole":         {plan: &continuity.Plan{}, asked: true, in: `{"diagnostics":{"cache_miss_reason":null},"content":[{"text":"diagnostics"}]}`, want: `{"content":[{"text":"diagnostics"}]}`},
		"a diagnosis, and both":      {plan: moved, asked: true, in: start + diagnosed, want: strings.Replace(start, `,"input_transformations":[{"path":"messages.3.content.0"}]`, "", 1) + strings.Replace(diagnosed, `"diagnostics":null,`, "", 1)},
		"no JSON":                    {plan: moved, in: "<html>", want: "<html>"},
	}
	for name, tt := range tests {
		for _, ends := range []string{"\n", "\r\n", "\r"} {
			in, want := strings.ReplaceAll(tt.in, "\n", ends), strings.ReplaceAll(tt.want, "\n", ends)
			for size := 1; size <= len(in); size += 1 + size/2 {
				x := &exchange{warmth: &warmth{plan: tt.plan, asksBinding: tt.asks, asked: tt.asked}}
				if tt.status == 0 {
					tt.status = 200
				}
				m := x.mend(tt.status, false, strings.Contains(tt.in, "data:"))
				var got []byte
				for at := 0; at < len(in); at += size {
					got = append(got, m.feed([]byte(in[at:min(at+size, len(in))]))...)
				}
				if got = append(got, m.end()...); string(got) != want {
					t.Fatalf("%s in pieces of %d, %q:\ngot  %q\nwant %q", name, size, ends, got, want)
				}
			}
		}
	}
}

// Of a stream that broke only whole events go on: an error comes next.
func TestMendDropsHalfAnEvent(t *testing.T) {
	const whole, half = "event: ping\ndata: {\"type\":\"ping\"}\n\n", "event: message_start\ndata: {\"type\":\"mess"
	for name, ends := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		for _, more := range []string{"", half, half + "\n"} {
			in, want := strings.ReplaceAll(whole+more, "\n", ends), strings.ReplaceAll(whole, "\n", ends)
			x := &exchange{warmth: &warmth{plan: &continuity.Plan{Drop: true}}}
			m := x.mend(200, false, true)
			got := string(m.feed([]byte(in)))
			if got += string(m.cut()); got != want || m.holds() {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}

// What is too long to be held goes on as it came, in full.
func TestMendHoldsSoMuch(t *testing.T) {
	x := &exchange{warmth: &warmth{plan: &continuity.Plan{Drop: true}}}
	m := x.mend(200, false, false)
	in := `{"a":"` + strings.Repeat("x", maxMended) + `","input_transformations":[]}`
	got := string(m.feed([]byte(in[:1000]))) + string(m.feed([]byte(in[1000:]))) + string(m.end())
	if got != in {
		t.Errorf("%d bytes of %d", len(got), len(in))
	}
}

func TestClientIndex(t *testing.T) {
	plan := &continuity.Plan{Inserts: []continuity.Edit{{After: 1}, {After: 3}, {After: 3}}}
	for upstream, want := range []int{0, -1, 1, 2, -1, -1, 3, 4} {
		if got := plan.ClientIndex(upstream); got != want {
			t.Errorf("%d: got %d, want %d", upstream, got, want)
		}
	}
}
