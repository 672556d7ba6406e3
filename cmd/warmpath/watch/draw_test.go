package watch_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/cmd/warmpath/watch"
	"warmpath/gateway/display"
	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

var update = flag.Bool("update", false, "write the golden files")

// chat are the events of a conversation in which everything happens, as JSON.
func chat(t testing.TB) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "chat.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// screen is both outputs, as they follow each other in a terminal: each piece of
// standard error begins with a bar.
type screen struct {
	both     strings.Builder
	out, err bytes.Buffer
}

func (s *screen) terminal() watch.Terminal {
	return watch.Terminal{Out: writer{s, false}, Err: writer{s, true}}
}

type writer struct {
	s   *screen
	err bool
}

func (w writer) Write(p []byte) (int, error) {
	if w.err {
		w.s.err.Write(p)
		w.s.both.WriteString("| " + string(p))
	} else {
		w.s.out.Write(p)
		w.s.both.WriteString(string(p))
	}
	return len(p), nil
}

func draw(t testing.TB, terminal watch.Terminal, section string, lines []string) {
	t.Helper()
	settings, err := display.Parse(rewrite.JSON(section))
	if err != nil {
		t.Fatal(err)
	}
	d := watch.NewDrawer(terminal, &settings)
	for _, line := range lines {
		e, err := transcript.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		d.Draw(e)
	}
}

func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		section string
		colour  bool
	}{
		"usual.txt":     {section: `{}`},
		"colour.txt":    {section: `{}`, colour: true},
		"little.txt":    {section: `{"inline_results":"off","reasoning":"off","style":{"header":"off"}}`},
		"much.txt":      {section: `{"inline_results":"full","reasoning":"full","tools":{"tell_user":{"style":{"header":"on"},"inline_results":"full"}}}`},
		"parts.txt":     {section: `{"inline_results":{"user":"chat","assistant":"off"},"errors":{"inline_results":"full"}}`},
		"hidden.txt":    {section: `{"style":{"hidden":"on"},"tools":{"mcp__*":{"style":{"hidden":"off","header":"off"},"inline_results":{"user":1,"assistant":"off"}}}}`},
		"visualise.txt": {section: `{"controls":"visualise"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var s screen
			terminal := s.terminal()
			terminal.OutColour, terminal.ErrColour = c.colour, c.colour
			draw(t, terminal, c.section, chat(t))
			got := strings.ReplaceAll(s.both.String(), "\x1b", "<ESC>")
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !c.colour && strings.Contains(got, "<ESC>") {
				t.Error("there are sequences without a terminal")
			}
		})
	}
}

// IR-21: what is speech goes to standard output, and nothing else of a tool does.
func TestDrawChannels(t *testing.T) {
	event := func(annotations string) []string {
		return []string{`{"seq":1,"type":"tool_call_response","name":"bash","content":[{"type":"text","text":"the result","annotations":` + annotations + `}]}`}
	}
	const user, model, both, all = `{"audience":["user"]}`, `{"audience":["assistant"]}`, `{"audience":["user","assistant"]}`, `{}`
	for name, c := range map[string]struct {
		results, annotations string
		out, err             bool
	}{
		"IR-21 speech for people":             {`{"user":"chat"}`, user, true, false},
		"IR-21 the model's half":              {`{"user":"chat"}`, model, false, true},
		"IR-05 nobody is named":               {`{"user":"chat","assistant":"off"}`, all, false, true},
		"IR-20 the model's half is hidden":    {`{"user":10,"assistant":"off"}`, model, false, false},
		"IR-20 people's half is a result":     {`{"user":10,"assistant":"off"}`, user, false, true},
		"IR-22 off":                           {`"off"`, user, false, false},
		"IR-23 both are named":                {`{"user":"chat","assistant":"off"}`, both, true, false},
		"IR-23 both are named, and no speech": {`{"user":"off","assistant":3}`, both, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var s screen
			draw(t, s.terminal(), `{"inline_results":`+c.results+`}`, event(c.annotations))
			if out, err := strings.Contains(s.out.String(), "the result"), strings.Contains(s.err.String(), "the result"); out != c.out || err != c.err {
				t.Errorf("on standard output %v, on standard error %v; want %v and %v", out, err, c.out, c.err)
			}
		})
	}
}

func TestDrawInquiries(t *testing.T) {
	for name, c := range map[string]struct{ data, section, want string }{
		"a prompt":              {`{"tool":{"name":"show"},"questions":[{"key":"q1","kind":"text","text":"Which?"}]}`, `{}`, "· people are asked: question: show: Which?\n· the question was declined\n"},
		"its questions":         {`[{"key":"q1","kind":"text","text":"Which?"},{"key":"q2","kind":"confirm","text":"Sure?"}]`, `{}`, "· people are asked: question: Which?: Sure?\n· the question was declined\n"},
		"something else":        {`"?"`, `{}`, "· people are asked: question\n· the question was declined\n"},
		"of a tool not shown":   {`{"tool":{"name":"show"}}`, `{"tools":{"show":{"style":{"hidden":"on"}}}}`, ""},
		"control characters":    {`{"message":"a\u001b[2Jb"}`, `{}`, "· people are asked: question: ab\n· the question was declined\n"},
		"more than fits a line": {`{"message":"` + strings.Repeat("a", 200) + `"}`, `{}`, "· people are asked: question: " + strings.Repeat("a", 110) + "…\n· the question was declined\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var s screen
			draw(t, s.terminal(), c.section, []string{
				`{"seq":1,"type":"inquiry_request","id":"p","kind":"question","data":` + c.data + `}`, `{"seq":2,"type":"inquiry_response","id":"p","outcome":"declined"}`,
			})
			if got := s.err.String(); got != c.want || s.out.Len() > 0 {
				t.Errorf("%q, %q; want %q", got, s.out.String(), c.want)
			}
		})
	}
}

// What strangers have written does nothing to a terminal, whatever kind of event they
// have written it in.
func FuzzDraw(f *testing.F) {
	for _, line := range chat(f) {
		f.Add([]byte(line), "\x1b[2J\x1b]52;c;aGk=\x07\u009b8m\r")
	}
	f.Fuzz(func(t *testing.T, event []byte, text string) {
		e, err := transcript.Parse(event)
		if err != nil {
			return
		}
		e.Name, e.Reason, e.Message, e.Model, e.Summary, e.State = e.Name+text, e.Reason+text, text, text, text, e.State+text
		e.Texts, e.Added, e.Outcome = append(e.Texts, text), append(e.Added, text), text
		for i := range e.Content {
			e.Content[i].Text += text
			e.Content[i].Name = text
		}
		e.Sources = append(e.Sources, transcript.Citation{Title: text, URL: "https://example.com/" + text})
		var s screen
		watch.NewDrawer(s.terminal(), &display.Settings{}).Draw(e)
		if strings.ContainsFunc(s.out.String()+s.err.String(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f }) {
			t.Errorf("something to obey: %q %q", s.out.String(), s.err.String())
		}
	})
}
