package watch

import (
	"fmt"
	"strings"

	"warmpath/cmd/warmpath/markdown"
	"warmpath/gateway/display"
	"warmpath/rewrite"
	"warmpath/rewrite/printable"
	"warmpath/rewrite/transcript"
)

// plain is a block as text, made fit for a terminal.
func (d *Drawer) plain(b *transcript.Block, colour bool) string {
	if b.Text != "" || b.Type == "text" {
		return printable.Style{Mode: d.settings.Controls, Colour: colour}.Text(b.Text) + left(b)
	}
	what := []string{b.Type}
	if b.MIME != "" {
		what = append(what, d.line(b.MIME))
	}
	if b.Name != "" {
		what = append(what, d.line(b.Name))
	}
	if address, ok := markdown.Address(b.URL); ok {
		what = append(what, d.line(address))
	}
	if size := len(b.Data) * 3 / 4; size > 0 {
		what = append(what, fmt.Sprintf("%d bytes", size))
	}
	if b.Omitted > 0 {
		what = append(what, fmt.Sprintf("%d bytes not kept", b.Omitted))
	}
	return "[" + strings.Join(what, " ") + "]"
}

// left says how much of a text the log has left out.
func left(b *transcript.Block) string {
	if b.Omitted == 0 {
		return ""
	}
	return fmt.Sprintf("\n[… %d bytes not kept]", b.Omitted)
}

// isMarkdown reports whether a block says that it is.
func isMarkdown(b *transcript.Block) bool {
	kind, _, _ := strings.Cut(b.MIME, ";")
	return b.Type == "text" && strings.EqualFold(strings.TrimSpace(kind), "text/markdown")
}

// call draws that a tool is called.
func (d *Drawer) call(e *transcript.Event) {
	if e.CallID != "" {
		d.tools[e.CallID] = e.Name
	}
	if tool := d.settings.Tool(e.Name, false); !tool.Header || tool.Hidden {
		return
	}
	arguments := d.line(string(e.Arguments))
	fmt.Fprintln(d.terminal.Err, strings.TrimRight(d.paint(cyan, "→ "+d.line(e.Name))+" "+d.paint(faint, brief(arguments)), " "))
}

// result draws what a tool has given: what is for people alone as speech, if that is
// set, and the rest below the tool's name.
func (d *Drawer) result(e *transcript.Event) {
	name := e.Name
	if name == "" {
		name = d.tools[e.CallID]
	}
	tool := d.settings.Tool(name, e.Failed)
	if tool.Hidden {
		return
	}
	if tool.Header {
		header := d.paint(cyan, "← "+d.line(name))
		if e.Failed {
			header += d.paint(red, " failed")
		}
		fmt.Fprintln(d.terminal.Err, header)
	}
	for i := range e.Content {
		b := &e.Content[i]
		bound, speech := tool.Results.Of(rewrite.JSON(b.Annotations))
		switch {
		case bound == display.Off:
		case speech && isMarkdown(b):
			d.say(d.markdown(b.Text, d.terminal.Width, d.terminal.OutColour) + left(b))
		case speech:
			d.say(d.plain(b, d.terminal.OutColour))
		case isMarkdown(b):
			width := d.terminal.Width
			if width > 2 {
				width -= 2
			}
			d.bounded(d.markdown(b.Text, width, d.terminal.ErrColour)+left(b), bound, "  ")
		default:
			d.bounded(d.plain(b, d.terminal.ErrColour), bound, "  ")
		}
	}
}

// bounded writes so many lines of a text, and how many there are more.
func (d *Drawer) bounded(text string, bound display.Bound, mark string) {
	text = strings.Trim(text, "\n")
	if bound == display.Off || text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	more := len(lines) - int(bound)
	if more > 0 {
		lines = lines[:bound]
	}
	for _, line := range lines {
		if d.terminal.ErrColour && strings.Contains(line, "\x1b") && !strings.HasSuffix(line, "\x1b[0m") {
			line += "\x1b[0m"
		}
		fmt.Fprintln(d.terminal.Err, strings.TrimRight(mark+line, " "))
	}
	if more > 0 {
		fmt.Fprintln(d.terminal.Err, mark+d.paint(faint, fmt.Sprintf("… %s more", counted(more, "line"))))
	}
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// hosted draws a step of a tool that the provider runs itself.
func (d *Drawer) hosted(e *transcript.Event) {
	tool := d.settings.Tool(e.Name, e.State == "failed")
	if tool.Hidden {
		return
	}
	if tool.Header {
		sign, after := "→ ", brief(d.line(string(e.Input)))
		if e.State != "started" {
			sign, after = "← ", strings.TrimSpace(d.line(e.State)+" "+d.line(e.ErrorCode))
		}
		fmt.Fprintln(d.terminal.Err, strings.TrimRight(d.paint(cyan, sign+d.line(e.Name))+" "+d.paint(faint, after), " "))
	}
	bound, _ := tool.Results.Of(nil)
	d.bounded(printable.Style{Mode: d.settings.Controls, Colour: d.terminal.ErrColour}.Text(e.Summary), bound, "  ")
	d.bounded(d.sources(e.Sources), bound, "  ")
}
