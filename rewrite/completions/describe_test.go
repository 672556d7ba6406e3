package completions_test

import (
	"fmt"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/sse"
)

// describe writes an event as a line.
func describe(e *rewrite.Event) string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	line := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" && text != "false" {
			fmt.Fprintf(&b, " %s=%s", name, text)
		}
	}
	switch e.Kind {
	case rewrite.EventBegin:
		fmt.Fprintf(&b, " id=%s model=%s created=%d", e.Reply.ID, e.Reply.Model, e.Reply.Created)
	case rewrite.EventUsage:
		fmt.Fprintf(&b, " in=%d read=%d write=%d out=%d reasoning=%d", e.Usage.InputTotal.N, e.Usage.CacheRead.N, e.Usage.CacheWrite.N, e.Usage.OutputTotal.N, e.Usage.Reasoning.N)
	case rewrite.EventEnd:
		fmt.Fprintf(&b, " %s word=%s", e.Stop.Reason, e.Stop.Word)
	case rewrite.EventError:
		fmt.Fprintf(&b, " %+v", *e.Fault)
	default:
		fmt.Fprintf(&b, " %d.%d", e.Index, e.PartIndex)
	}
	if e.Text != nil {
		fmt.Fprintf(&b, " %q", e.Text)
	}
	if i := e.Item; i != nil {
		fmt.Fprintf(&b, " %s", i.Kind)
		line("id", i.ID)
		line("phase", i.Phase)
		line("incomplete", i.Incomplete)
		line("call", i.Call.ID)
		line("name", i.Call.Name)
		line("namespace", i.Call.Namespace)
		line("custom", i.Call.Custom)
		line("arguments", string(i.Call.Arguments))
		if i.Kind == rewrite.ItemHosted {
			fmt.Fprintf(&b, " %s %s", i.Hosted.Name, i.Hosted.State)
		}
		line("input", string(i.Hosted.Input))
		line("error", i.Hosted.Error)
		line("summary", i.Hosted.Summary)
		line("payload", i.Payload.Format)
		line("value", string(i.Payload.Value))
	}
	if p := e.Part; p != nil {
		fmt.Fprintf(&b, " %s", p.Kind)
		for i := range p.Attributions {
			attribution(&b, &p.Attributions[i])
		}
	}
	if e.Attribution != nil {
		attribution(&b, e.Attribution)
	}
	return b.String() + "\n"
}

func attribution(b *strings.Builder, a *rewrite.Attribution) {
	fmt.Fprintf(b, " [%s %s %q %d-%d]", a.Kind, a.URL, a.Title, a.Start, a.End)
}

// told decodes a stream that arrives in chunks of the size given.
func told(stream string, size int, yield func(*rewrite.Event)) {
	d := completions.NewDecoder("openai")
	var s sse.Splitter
	read := func(e sse.Event) { d.Event(e.Name, e.Data, yield) }
	for stream != "" {
		n := min(size, len(stream))
		s.Feed([]byte(stream[:n]), read)
		stream = stream[n:]
	}
	s.Close(read)
	d.Close(yield)
}

// folded is a stream as a whole reply.
func folded(stream string) *rewrite.Reply {
	var f rewrite.Fold
	told(stream, len(stream), f.Add)
	return f.Reply()
}
