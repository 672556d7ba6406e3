package watch

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"warmpath/cmd/warmpath/markdown"
	"warmpath/gateway/display"
	"warmpath/rewrite/printable"
	"warmpath/rewrite/transcript"
)

// Terminal is where something is drawn.
type Terminal struct {
	// Out gets what is said, and Err all else.
	Out, Err io.Writer
	// OutColour and ErrColour say that they show colours.
	OutColour, ErrColour bool
	// Width is in columns; 0 is the usual.
	Width int
}

// TerminalOf gives the terminal that two outputs are, as wide as it is. Where none is a
// terminal there are no colours, and the width is the usual.
func TerminalOf(out, err io.Writer, colour func(io.Writer) bool) Terminal {
	t := Terminal{Out: out, Err: err, OutColour: colour(out), ErrColour: colour(err)}
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			t.Width = width
		}
	}
	return t
}

// Drawer draws the events of one conversation, in their order.
type Drawer struct {
	terminal Terminal
	settings *display.Settings
	// tools are the names of calls by their ids: not every dialect repeats them.
	tools map[string]string
	model string
	// hushed are the questions of tools that are hidden, by their ids.
	hushed map[string]bool
}

// NewDrawer gives a Drawer that has drawn nothing yet.
func NewDrawer(t Terminal, s *display.Settings) *Drawer {
	return &Drawer{terminal: t, settings: s, tools: map[string]string{}, hushed: map[string]bool{}}
}

// Draw draws an event. What is drawn depends on the events before it, and on nothing
// else.
func (d *Drawer) Draw(e *transcript.Event) {
	switch e.Type {
	case transcript.TurnStart:
		if e.Model != "" && e.Model != d.model {
			d.note("model " + d.line(e.Model))
			d.model = e.Model
		}
	case transcript.ChatRequest:
		d.request(e)
	case transcript.ChatResponse:
		d.response(e)
	case transcript.ToolCallRequest:
		d.call(e)
	case transcript.ToolCallResponse:
		d.result(e)
	case transcript.HostedActivity:
		d.hosted(e)
	case transcript.Directive:
		d.directive(e)
	case transcript.InquiryRequest, transcript.InquiryResponse:
		d.inquiry(e)
	case transcript.Error:
		d.note(strings.TrimRight("error: "+d.line(e.Reason)+" "+d.line(e.Message), " "))
	case transcript.TurnEnd:
		if e.Outcome == transcript.Cut {
			d.note("the reply was cut off")
		}
	}
}

// say writes something that is said, and an empty line behind it.
func (d *Drawer) say(text string) {
	if text != "" {
		fmt.Fprintf(d.terminal.Out, "%s\n\n", strings.TrimRight(text, "\n"))
	}
}

// note writes a line that nobody has said.
func (d *Drawer) note(text string) {
	fmt.Fprintln(d.terminal.Err, d.paint(faint, "· "+text))
}

// line is a text of strangers on one line of standard error.
func (d *Drawer) line(text string) string {
	return printable.Style{Mode: d.settings.Controls}.Line(text)
}

// The colours of standard error.
const (
	faint = "2"
	cyan  = "36"
	red   = "31"
)

func (d *Drawer) paint(colour, text string) string {
	if !d.terminal.ErrColour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// request draws what the user has said, each line behind a mark.
func (d *Drawer) request(e *transcript.Event) {
	mark := "> "
	if d.terminal.OutColour {
		mark = "\x1b[1;36m>\x1b[0m "
	}
	var lines []string
	for i := range e.Content {
		text := d.plain(&e.Content[i], d.terminal.OutColour)
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			lines = append(lines, strings.TrimRight(mark+line, " "))
		}
	}
	d.say(strings.Join(lines, "\n"))
}

// response draws what the model has said, with its sources, and some of how it came
// to that.
func (d *Drawer) response(e *transcript.Event) {
	if e.Kind == transcript.Reasoning {
		for i := range e.Content {
			d.bounded(d.plain(&e.Content[i], d.terminal.ErrColour), d.settings.Reasons(), "~ ")
		}
		return
	}
	for i := range e.Content {
		b := &e.Content[i]
		if b.Type == "text" && e.Kind != transcript.Structured {
			d.say(d.markdown(b.Text, d.terminal.Width, d.terminal.OutColour) + left(b))
		} else {
			d.say(d.plain(b, d.terminal.OutColour))
		}
	}
	var sources []transcript.Citation
	for i := range e.Content {
		sources = append(sources, e.Content[i].Citations...)
	}
	d.say(d.sources(sources))
	if e.Incomplete {
		d.note("it was cut off here")
	}
}

// sources lists where a text comes from, each place once.
func (d *Drawer) sources(citations []transcript.Citation) string {
	var b strings.Builder
	seen := map[string]bool{}
	for i := range citations {
		c := &citations[i]
		title := d.line(c.Title)
		address, ok := markdown.Address(c.URL)
		if address = d.line(address); !ok {
			address = ""
		}
		where := strings.TrimSpace(title + " " + address)
		if where == "" || seen[where] {
			continue
		}
		if seen[where] = true; len(seen) == 1 {
			b.WriteString("Sources:\n")
		}
		fmt.Fprintf(&b, "[%d] %s\n", len(seen), where)
	}
	return b.String()
}

// markdown draws a text of Markdown.
func (d *Drawer) markdown(text string, width int, colour bool) string {
	return markdown.Render(text, markdown.Options{Width: width, Colour: colour, Controls: d.settings.Controls})
}

// directive tells in a line what the operator has said, or what the gateway has.
func (d *Drawer) directive(e *transcript.Event) {
	var said []string
	texts := e.Texts
	for i := range e.Content {
		texts = append(texts, e.Content[i].Text)
	}
	for _, text := range texts {
		said = append(said, "says "+brief(d.line(text)))
	}
	if len(e.Added) > 0 {
		said = append(said, "adds "+d.line(strings.Join(e.Added, ", ")))
	}
	if len(e.Removed) > 0 {
		said = append(said, "takes away "+d.line(strings.Join(e.Removed, ", ")))
	}
	if e.Defined > 0 {
		said = append(said, fmt.Sprintf("defines %d tools", e.Defined))
	}
	if len(said) > 0 {
		who := "operator"
		if e.Source == transcript.FromGateway {
			who = "gateway"
		}
		d.note(who + " " + strings.Join(said, "; "))
	}
}

// brief is the beginning of a line.
func brief(line string) string {
	const most = 120
	runes := []rune(line)
	if len(runes) <= most {
		return line
	}
	return string(runes[:most]) + "…"
}
