package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// used tells what the call has used, to a client that has asked for it.
func (e *Encoder) used(dst []byte, stop rewrite.StopReason) []byte {
	if !e.wants("usage") || !e.usage.Known() {
		return dst
	}
	w := e.start(dst, ownMark+"usage")
	w.Name("call")
	w.Int(int64(max(e.o.Call, 1)))
	w.Text("stop_reason", stop.String())
	w.Name("usage")
	writeUsage(&w, &e.usage, true, nil)
	e.writeHosted(&w)
	return finish(&w)
}

// writeHosted writes how often the provider has run its tools, if it has.
func (e *Encoder) writeHosted(w *splice.Writer) {
	begun := false
	write := func(name string, calls int64) {
		if !begun {
			begun = true
			w.Name("hosted")
			w.Open('{')
		}
		w.Name(name)
		w.Int(calls)
	}
	if e.o.Report != nil {
		for name, calls := range e.o.Report.Activity.Charged {
			write(name, calls)
		}
	} else {
		var ran rewrite.Report
		for i := range e.slots {
			if h := &e.slots[i].head.Hosted; e.slots[i].head.Kind == rewrite.ItemHosted && h.State == rewrite.HostedCompleted {
				ran.Run(h.ID, h.Name, false)
			}
		}
		for name, calls := range ran.Activity.Charged {
			write(name, calls)
		}
	}
	if begun {
		w.Close('}')
	}
}
