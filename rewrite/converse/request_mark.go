package converse

import "warmpath/rewrite"

// maxMarks is how many cache marks a request may have.
const maxMarks = 4

// countMarks counts the marks that would be written.
func (rw *requestWriter) countMarks() (n int) {
	if rw.family == familyOther {
		return 0
	}
	count := func(m rewrite.Mark) {
		if m.Set {
			n++
		}
	}
	for i := range rw.c.Tools {
		if t := &rw.c.Tools[i]; rw.family == familyClaude && t.Kind != rewrite.ToolHosted {
			count(t.Mark)
		}
	}
	for i := range rw.c.System {
		count(rw.c.System[i].Mark)
	}
	for i := range rw.c.Items {
		item := &rw.c.Items[i]
		count(item.Mark)
		for j := range item.Parts {
			count(item.Parts[j].Mark)
		}
	}
	if rw.marksEnd() {
		n++
	}
	return n
}

// mark writes a cache mark behind what was written last. Other dialects allow
// more of them, with other lifetimes in any order: the last ones are kept, each
// as long as it may be. Models that keep no prefixes refuse marks.
func (rw *requestWriter) mark(m rewrite.Mark) {
	if !m.Set || rw.family == familyOther {
		return
	}
	if rw.skip > 0 {
		rw.skip--
		return
	}
	if !rw.sealable {
		return
	}
	if m.TTL != "1h" || rw.short || rw.family == familyNova {
		m.TTL, rw.short = "", true
	}
	rw.sealable = false
	w := &rw.w
	w.Open('{')
	w.Name(kindCachePoint)
	w.Open('{')
	w.Text("type", "default")
	w.Text("ttl", m.TTL)
	w.Close('}')
	w.Close('}')
}
