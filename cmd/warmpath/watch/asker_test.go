package watch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cmd/warmpath/watch"
	"warmpath/gateway/display"
	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
)

// desk is somebody in front of a session that answers prompts.
type desk struct {
	t          testing.TB
	g          *gateway
	keys       *io.PipeWriter
	shown      chan string
	seen       string
	interrupts chan os.Signal
	done       chan error
}

// shower passes on what is written to it.
type shower chan string

func (s shower) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

func sit(t *testing.T) *desk {
	t.Helper()
	g := &gateway{live: make(chan string), prompts: make(chan string)}
	client := g.serve(t)
	in, keys := io.Pipe()
	d := &desk{t: t, g: g, keys: keys, shown: make(chan string, 1000), interrupts: make(chan os.Signal), done: make(chan error, 1)}
	session := watch.Session{
		Log: &watch.Log{Client: client, Conversation: "c"}, Follow: true, Lines: watch.NewLines(in), Interrupts: d.interrupts, ComeBack: time.Hour,
		Drawer: watch.NewDrawer(watch.Terminal{Out: io.Discard, Err: shower(d.shown)}, &display.Settings{}),
	}
	go func() { d.done <- session.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = keys.Close()
		close(g.prompts)
		for {
			select {
			case d.interrupts <- os.Interrupt:
			case err := <-d.done:
				if err != nil {
					t.Error(err)
				}
				return
			}
		}
	})
	return d
}

// open opens a prompt.
func (d *desk) open(id, kind string, change func(*prompt.View), questions ...question.Question) {
	d.t.Helper()
	v := prompt.View{ID: id, State: "open", Kind: kind, Tool: prompt.Tool{Name: "show", Source: "desk"}}
	if len(questions) > 0 {
		v.Questions = json.RawMessage(question.Encode(questions))
	}
	if change != nil {
		change(&v)
	}
	text, err := json.Marshal(map[string]any{"prompt": v})
	if err != nil {
		d.t.Fatal(err)
	}
	d.g.prompts <- "event: opened\ndata: " + string(text) + "\n\n"
}

func (d *desk) closes(id, outcome string) {
	d.g.prompts <- fmt.Sprintf("event: closed\ndata: {\"id\":%q,\"outcome\":%q}\n\n", id, outcome)
}

// see waits until something is shown.
func (d *desk) see(want string) {
	d.t.Helper()
	for !strings.Contains(d.seen, want) {
		select {
		case text := <-d.shown:
			d.seen += text
		case <-time.After(10 * time.Second):
			d.t.Fatalf("shown is %q, not %q", d.seen, want)
		}
	}
	_, d.seen, _ = strings.Cut(d.seen, want)
}

func (d *desk) typeIn(line string) {
	d.t.Helper()
	if _, err := io.WriteString(d.keys, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

// answered waits for the answers that the gateway has got.
func (d *desk) answered(want ...string) {
	d.t.Helper()
	var got []string
	for range 1000 {
		d.g.mu.Lock()
		got = append(got[:0], d.g.answers...)
		d.g.mu.Unlock()
		if len(got) >= len(want) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.t.Errorf("answers (-want +got):\n%s", diff)
	}
}

var (
	name   = question.Question{Key: "name", Kind: question.Text, Text: "What is it called?\x1b[2J"}
	colour = question.Question{Key: "colour", Kind: question.Choice, Text: "Which colour?", Options: []question.Option{{Value: "r", Label: "red"}, {Value: "b", Label: "blue"}}, Default: rewrite.JSON(`"b"`)}
)

func TestAnswer(t *testing.T) {
	kind := prompt.Question.String()
	t.Run("questions one after the other", func(t *testing.T) {
		d := sit(t)
		d.open("p1", kind, func(v *prompt.View) { v.Path, v.Message = []string{"homer", "bart"}, "Please say." }, name, colour)
		d.see("? show of desk, for homer/bart: Please say.\n(1/2) What is it called?\n> ")
		d.typeIn("")
		d.see("Please type an answer.\n(1/2) What is it called?\n> ")
		d.typeIn("Fred \"x\"")
		d.see("(2/2) Which colour?\n  1) red\n  2) blue\n")
		d.typeIn("1")
		d.answered(`p1 {"action":"accept","content":{"name":"Fred \"x\"","colour":"r"}}`)
	})
	t.Run("leave to run, and prompts in turn", func(t *testing.T) {
		d := sit(t)
		run := func(v *prompt.View) { v.Arguments = json.RawMessage(`{"id":7}`) }
		d.open("p1", prompt.Run.String(), run)
		d.open("p2", prompt.Run.String(), run)
		d.open("p3", prompt.Deliver.String(), func(v *prompt.View) { v.Result = "what it gave" })
		d.see("Run show?\n{\"id\":7}\n  1) yes\n")
		d.typeIn("yes")
		d.see("Run show?\n")
		d.typeIn("2")
		d.see("Give the model what show gave?\nwhat it gave\n")
		d.typeIn("no, for this turn")
		d.answered(`p1 {"action":"accept","scope":"once"}`, `p2 {"action":"accept","scope":"turn"}`, `p3 {"action":"decline","scope":"turn"}`)
	})
	t.Run("an answer that the gateway refuses is asked for again", func(t *testing.T) {
		d := sit(t)
		d.g.refuse = []int{422, 409}
		d.open("p1", kind, nil, name)
		d.see("What is it called?")
		d.typeIn("a")
		d.see("That will not do: the gateway minds\n")
		d.see("What is it called?")
		d.typeIn("b")
		d.see("The answer was not taken: the gateway answered 409: the gateway minds\n")
		d.answered(`p1 {"action":"accept","content":{"name":"a"}}`, `p1 {"action":"accept","content":{"name":"b"}}`)
	})
	t.Run("TL-10 an interrupt stops the turn", func(t *testing.T) {
		d := sit(t)
		d.open("p1", kind, nil, name, colour)
		d.see("(1/2)")
		d.typeIn("a")
		d.see("(2/2)")
		d.interrupts <- os.Interrupt
		d.answered(`p1 {"action":"cancel"}`)
		// The line that was being typed is for nobody.
		d.open("p2", kind, nil, colour)
		d.typeIn("red")
		d.see("? show of desk\nWhich colour?")
		d.typeIn("blue")
		d.answered(`p1 {"action":"cancel"}`, `p2 {"action":"accept","content":{"colour":"b"}}`)
	})
	t.Run("the end of input declines", func(t *testing.T) {
		d := sit(t)
		d.open("p1", kind, nil, name)
		d.see("What is it called?")
		_ = d.keys.Close()
		d.answered(`p1 {"action":"decline"}`)
	})
	t.Run("one that is answered elsewhere", func(t *testing.T) {
		d := sit(t)
		d.open("p1", kind, nil, name)
		d.see("What is it called?")
		d.open("p2", kind, nil, colour)
		d.open("p3", kind, nil, name)
		d.closes("p3", "expired")
		d.closes("p1", "answered")
		d.see("That is over: it was answered.\nPress Enter to go on.\n")
		d.typeIn("")
		d.see("Which colour?")
		d.typeIn("")
		d.answered(`p2 {"action":"accept","content":{"colour":"b"}}`)
	})
	t.Run("what happens meanwhile is drawn after it", func(t *testing.T) {
		d := sit(t)
		d.open("p1", kind, nil, name)
		d.see("What is it called?")
		d.g.live <- `{"seq":1,"type":"turn_start","model":"m"}`
		d.g.live <- `{"seq":2,"type":"error","reason":"late"}`
		d.typeIn("")
		d.see("Please type an answer.\nWhat is it called?\n> ")
		d.typeIn("a")
		d.see("· model m\n· error: late\n")
	})
	t.Run("one that is not understood", func(t *testing.T) {
		d := sit(t)
		d.open("p1", "dance", nil)
		d.see("There is a prompt that cannot be asked here: a prompt of the unknown kind \"dance\"\n")
		d.answered()
	})
}
