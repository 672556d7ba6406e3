package gateway_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/rewrite"
	"warmpath/rewrite/sse"
)

// feature is a row of the matrix: something that a client asks for, and how one
// sees that it was got.
type feature struct {
	name string
	// ask changes a plain request so that it asks for the feature.
	ask func(c *rewrite.Conversation, from rewrite.Dialect)
	// kept reports whether the provider was asked, and the client answered, as if
	// there were no gateway.
	kept func(o *outcome) bool
	// clients are the dialects that can ask for it; nil is all of them.
	clients []rewrite.Dialect
	// without says why a provider's dialect has nothing of the kind to ask for.
	without map[rewrite.Dialect]string
	// models are others than the usual ones, by the provider's dialect.
	models map[rewrite.Dialect]string
	// stream asks for a stream, and whole for none; both are played where neither
	// is set. Broken replies end with a fault, and failed ones with an HTTP error.
	stream, whole, broken, failed bool
	// beside are losses that another row is about.
	beside string
	// again asks once more, with what came of the first time.
	again func(o *outcome)
}

// outcome is what came of a request.
type outcome struct {
	from, to rewrite.Dialect
	c        *rewrite.Conversation
	status   int
	body     string // what the client got
	sent     string // what the provider got last
	losses   string
	reply    *rewrite.Reply
	deltas   int // pieces of text in the reply
}

// asked reports that the provider got some words, in their order.
func (o *outcome) asked(words ...string) bool {
	rest := o.sent
	for _, word := range words {
		_, after, found := strings.Cut(rest, word)
		if !found {
			return false
		}
		rest = after
	}
	return true
}

// said is the text of the reply.
func (o *outcome) said() (text string) {
	for i := range o.reply.Items {
		for _, part := range o.reply.Items[i].Parts {
			if o.reply.Items[i].Kind == rewrite.ItemMessage && part.Kind == rewrite.PartText {
				text += part.Text
			}
		}
	}
	return text
}

// item is the first item of a kind; nil if there is none.
func (o *outcome) item(kind rewrite.ItemKind) *rewrite.Item {
	for i := range o.reply.Items {
		if o.reply.Items[i].Kind == kind {
			return &o.reply.Items[i]
		}
	}
	return nil
}

// cell is what the matrix says: yes, loss, no, or – where there is nothing to ask
// for, and why.
type cell struct{ verdict, why string }

// player plays features.
type player struct {
	core *provider.Core
	base string
}

// play plays a feature for a client and a provider.
func (p *player) play(t *testing.T, f *feature, from, to rewrite.Dialect) cell {
	t.Helper()
	if why := f.without[to]; why != "" {
		return cell{"–", why}
	}
	result, listed := cell{verdict: "yes"}, ""
	for _, stream := range []bool{false, true} {
		if stream && f.whole || !stream && f.stream {
			continue
		}
		o := p.once(t, f, from, to, stream)
		o.losses = f.own(o.losses)
		if !stream {
			listed = o.losses
		} else if o.losses == "" && !f.kept(o) {
			o.losses = listed // what a reply loses is known when the head of its stream has gone
		}
		switch now := p.judge(t, f, o); {
		case now.verdict == "no", now.verdict == "loss" && result.verdict == "yes":
			result = now
		}
	}
	return result
}

// once asks once, or twice where the feature wants that.
func (p *player) once(t *testing.T, f *feature, from, to rewrite.Dialect, stream bool) *outcome {
	t.Helper()
	model := models[to]
	if f.models[to] != "" {
		model = f.models[to]
	} else if to == rewrite.Messages {
		model = "claude/claude-opus-5"
	} else if to == rewrite.Converse {
		model = "bedrock/eu.anthropic.claude-opus-5-v1:0"
	}
	c := &rewrite.Conversation{Dialect: from, Model: model, Stream: stream, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Go on. DO[say It is noon.]"}}}}}
	if from == rewrite.Completions && stream {
		c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
	}
	f.ask(c, from)
	o := p.send(t, c, from, to)
	if f.again != nil && o.status == 200 {
		first := o.losses
		f.again(o)
		if o = p.send(t, c, from, to); o.losses == "" {
			o.losses = first
		}
	}
	return o
}

func (p *player) send(t *testing.T, c *rewrite.Conversation, from, to rewrite.Dialect) *outcome {
	t.Helper()
	client := speakers[from]
	before := lastNumber(p.core)
	status, body, header := client.send(t, p.base, c)
	o := &outcome{from: from, to: to, c: c, status: status, body: string(body), losses: known(header.Get("Warmpath-Losses"))}
	if record := lastRecord(p.core); record.Number > before {
		o.sent = record.Body
	}
	var fold rewrite.Fold
	take := func(e *rewrite.Event) {
		if e.Kind == rewrite.EventText {
			o.deltas++
		}
		fold.Add(e)
	}
	switch {
	case status != 200:
	case c.Stream:
		d := client.decoder()
		var split sse.Splitter
		frame := func(e sse.Event) { d.Event(e.Name, e.Data, take) }
		split.Feed(body, frame)
		split.Close(frame)
		d.Close(take)
	default:
		if err := client.whole(body, "", take); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
	}
	o.reply = fold.Reply()
	if asked, err := client.encode(c, "", nil); err == nil {
		p.found(t, o, asked)
	}
	return o
}

// known leaves out a loss that is no matter of any feature: a signature that Gemini
// does without.
func known(losses string) string {
	all := strings.Split(losses, "; ")
	return strings.Join(slices.DeleteFunc(all, func(loss string) bool { return loss == "reply (a thought behind the answer)" }), "; ")
}

// own are the losses that the feature is about.
func (f *feature) own(losses string) string {
	all := strings.Split(losses, "; ")
	return strings.Join(slices.DeleteFunc(all, func(loss string) bool { return f.beside != "" && strings.Contains(loss, f.beside) }), "; ")
}

// found checks that losses name what the client has written.
func (p *player) found(t *testing.T, o *outcome, asked []byte) {
	t.Helper()
	for loss := range strings.SplitSeq(o.losses, "; ") {
		path, why, ok := strings.Cut(loss, " (")
		if reply := path == "reply" || path == "choices" || path == "output"; ok && !reply && !gjson.GetBytes(asked, path).Exists() {
			t.Errorf("%s is lost (%s), which the client has not written: %s", path, why, asked)
		}
	}
}

// judge says what came of a feature.
func (p *player) judge(t *testing.T, f *feature, o *outcome) cell {
	t.Helper()
	switch {
	case o.status >= 400 && !f.failed:
		message := gjson.Get(o.body, "error.message").Str
		if o.sent != "" {
			t.Errorf("the provider refuses it with %d %s: %s", o.status, o.body, o.sent)
		}
		if message == "" {
			t.Errorf("status %d without a reason: %s", o.status, o.body)
		}
		return cell{"no", message}
	case o.status == 200 && !f.broken && (o.reply.Fault != nil || o.reply.Stop.Reason == rewrite.StopUnknown):
		t.Errorf("the reply ends with %+v, %+v: %s", o.reply.Fault, o.reply.Stop, o.body)
	}
	kept := f.kept(o)
	switch {
	case kept && o.losses == "":
		return cell{verdict: "yes"}
	case o.losses == "":
		t.Errorf("lost without a word: %s\nclient got %s\nlosses %q", o.sent, o.body, o.losses)
	}
	return cell{"loss", whys(o.losses)}
}

// whys are the reasons of losses, each once.
func whys(losses string) string {
	var all []string
	for loss := range strings.SplitSeq(losses, "; ") {
		_, why, _ := strings.Cut(loss, " (")
		if why = strings.TrimSuffix(why, ")"); !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	return strings.Join(all, "; ")
}

// matrixClients and matrixProviders are the dialects in the order of the tables.
var (
	matrixClients   = []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses, rewrite.Gemini}
	matrixProviders = append(slices.Clone(matrixClients), rewrite.Converse)
)

func title(d rewrite.Dialect) string {
	return map[rewrite.Dialect]string{
		rewrite.Messages: "Messages", rewrite.Completions: "Chat Completions", rewrite.Responses: "Responses", rewrite.Gemini: "Gemini", rewrite.Converse: "Bedrock Converse",
	}[d]
}

const matrixBegin, matrixEnd = "<!-- matrix: written by go test ./gateway -run TestMatrix -update -->\n", "<!-- matrix: end -->\n"

// The matrix of client dialects by providers by features is what the README says:
// nothing is lost without a word, and every word stands there.
func TestMatrix(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	p := &player{core, base}
	var notes []string
	var b strings.Builder
	for _, from := range matrixClients {
		fmt.Fprintf(&b, "\n<details><summary>Clients of %s</summary>\n\n|", title(from))
		for _, to := range matrixProviders {
			fmt.Fprintf(&b, " | %s", title(to))
		}
		b.WriteString(" |\n|---|---|---|---|---|---|\n")
		var without []string
		for i := range features {
			f := &features[i]
			if f.clients != nil && !slices.Contains(f.clients, from) {
				without = append(without, f.name)
				continue
			}
			row := "| " + f.name
			for _, to := range matrixProviders {
				var c cell
				t.Run(fmt.Sprintf("%s from %s to %s", f.name, title(from), title(to)), func(t *testing.T) { c = p.play(t, f, from, to) })
				if row += " | " + c.verdict; c.why != "" {
					at := slices.Index(notes, c.why)
					if at < 0 {
						at, notes = len(notes), append(notes, c.why)
					}
					row += fmt.Sprintf("<sup>%d</sup>", at+1)
				}
			}
			b.WriteString(row + " |\n")
		}
		fmt.Fprintf(&b, "\nNot asked for in %s: %s.\n\n</details>\n", title(from), strings.Join(without, "; "))
	}
	b.WriteString("\n")
	for i, note := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, note)
	}
	b.WriteString("\n")
	compareReadme(t, b.String())
}

// compareReadme compares the part of the README between the markers, or writes it.
func compareReadme(t *testing.T, want string) {
	t.Helper()
	const path = "../README.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), matrixBegin)
	got, after, ends := strings.Cut(rest, matrixEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the matrix", path)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(before+matrixBegin+want+matrixEnd+after), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the matrix in the README differs (-update writes it): %s", diff)
	}
}
