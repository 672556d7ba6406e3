package completions_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

// streams are the streams and replies of all golden files.
func streams(t testing.TB) (all []*show.File) {
	for _, pattern := range []string{"testdata/streams/*.txt", "../testdata/chat/*.txt"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			all = append(all, show.Load(t, path))
		}
	}
	return all
}

func TestGoldenStreams(t *testing.T) {
	show.Each(t, "testdata/streams", func(t *testing.T, g *show.File) {
		var b strings.Builder
		told(g.Text("stream"), 1<<20, func(e *rewrite.Event) { b.WriteString(show.Event(e)) })
		g.Want(t, *update, "events", b.String())
	})
}

// ST-13, PB-25: every cut of a stream's bytes gives the same events.
func TestStreamsInAnyChunks(t *testing.T) {
	for _, g := range streams(t) {
		var want, got strings.Builder
		told(g.Text("stream"), 1<<20, func(e *rewrite.Event) { want.WriteString(show.Event(e)) })
		for _, size := range []int{1, 2, 3, 7, 100} {
			got.Reset()
			told(g.Text("stream"), size, func(e *rewrite.Event) { got.WriteString(show.Event(e)) })
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Fatalf("%s, chunks of %d: %s", g.Path, size, diff)
			}
		}
	}
}

// scripts are what the simulated model is asked to do.
var scripts = []string{
	"say Hello é🙂", "think 40; text 60 events=9", "search io volcano; call orbit {\"body\": \"io\"}", "think 3; say Well; call orbit {}; call patch",
	"say no; stop refusal", "text 30; stop length", "say x; stop filter",
}

// simulated is what the simulated API answers a request with.
func simulated(t *testing.T, script string, stream bool) string {
	t.Helper()
	prompt, err := json.Marshal("DO[" + script + "]")
	if err != nil {
		t.Fatal(err)
	}
	options := ""
	if stream {
		options = `,"stream_options":{"include_usage":true}`
	}
	w := ask(t, []byte(`{"model":"gpt-4.1","messages":[{"role":"user","content":`+string(prompt)+`}],"stream":`+strconv.FormatBool(stream)+options+`,`+
		`"tools":[{"type":"function","function":{"name":"orbit","parameters":{"type":"object","properties":{}}}},{"type":"custom","custom":{"name":"patch"}}]}`))
	if w.Code != 200 {
		t.Fatalf("%s: %s", script, w.Body)
	}
	return w.Body.String()
}

// A whole reply is a stream that has ended: folded, both are the same.
func TestWholeReplyIsAnEndedStream(t *testing.T) {
	same := func(t *testing.T, stream, reply string) {
		var f rewrite.Fold
		if err := completions.DecodeReply([]byte(reply), "openai", f.Add); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(show.Shared(folded(stream)), show.Shared(f.Reply())); diff != "" {
			t.Errorf("stream (-) and reply (+) differ: %s", diff)
		}
	}
	show.Each(t, "testdata/streams", func(t *testing.T, g *show.File) {
		if g.Text("reply") != "" {
			same(t, g.Text("stream"), g.Text("reply"))
		}
	})
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) { same(t, simulated(t, script, true), simulated(t, script, false)) })
	}
}

// ST-12: a stream without its end yields none, and what was open is incomplete.
func TestStreamWithoutItsEnd(t *testing.T) {
	for _, script := range scripts {
		stream := simulated(t, script, true)
		at := strings.Index(stream, `"finish_reason":"`)
		if at < 0 {
			t.Fatalf("%s: no end in %s", script, stream)
		}
		told(stream[:at], 1<<20, func(e *rewrite.Event) {
			if e.Kind == rewrite.EventEnd || e.Kind == rewrite.EventError {
				t.Errorf("%s: %s", script, show.Event(e))
			}
		})
	}
}

func TestDeltasAllocateLittle(t *testing.T) {
	d := completions.NewDecoder("openai")
	n := 0
	yield := func(*rewrite.Event) { n++ }
	data := []byte(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a \"quoted\"\nword é"},"finish_reason":null}],"usage":null,"obfuscation":"xx"}`)
	d.Event(nil, data, yield)
	if got := testing.AllocsPerRun(100, func() { d.Event(nil, data, yield) }); got > 2 {
		t.Errorf("%v allocations for a delta", got)
	}
	if n < 100 {
		t.Errorf("%d events", n)
	}
}

// What is no reply is an error, which a client must not take for a short answer.
func TestNoReply(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"id":"r"`, `{"id":"r","choices":[]}`, `{"choices":{}}`} {
		if err := completions.DecodeReply([]byte(body), "p", func(*rewrite.Event) {}); err == nil {
			t.Errorf("%q is a reply", body)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, g := range streams(f) {
		f.Add(g.Text("stream"), g.Text("reply"))
	}
	// Tools that the server has run, and sources beside a text that refers to them.
	const found = `{"id":"r1","citations":["https://a.test"],"search_results":[{"url":"https://a.test","title":"A"}],"web_search":[{"link":"https://b.test"}],"choices":[{"index":0,` +
		`"message":{"content":"é [1] [ref_2] [[1]](x) [","executed_tools":[{"index":0,"type":"search","arguments":"{}","output":"x","search_results":{"results":[{"url":"https://c.test"}]}},{"index":7}]},"finish_reason":"stop"}]}`
	f.Add("data: "+strings.Replace(found, "message", "delta", 1)+"\n\ndata: "+strings.Replace(found, "message", "delta", 1)+"\n\ndata: [DONE]\n\n", found)
	f.Fuzz(func(t *testing.T, stream, reply string) {
		var told1, told2 strings.Builder
		told(stream, 1<<20, func(e *rewrite.Event) { told1.WriteString(show.Event(e)) })
		told(stream, 5, func(e *rewrite.Event) { told2.WriteString(show.Event(e)) })
		if told1.String() != told2.String() {
			t.Fatalf("%s\n%s", told1.String(), told2.String())
		}
		var fold rewrite.Fold
		ended := 0
		err := completions.DecodeReply([]byte(reply), "p", func(e *rewrite.Event) {
			if ended > 0 {
				t.Fatalf("after the end: %s", show.Event(e))
			}
			if fold.Add(e); e.Kind == rewrite.EventEnd || e.Kind == rewrite.EventError {
				ended++
			}
		})
		if (err == nil) != (ended == 1) {
			t.Fatalf("%v, and %d ends", err, ended)
		}
	})
}
