package anthropic

import "warmpath/rewrite"

// maxMarks is how many cache marks a request may have.
const maxMarks = 4

// countMarks counts the marks of a conversation.
func countMarks(c *rewrite.Conversation) (n int) {
	count := func(m rewrite.Mark) {
		if m.Set {
			n++
		}
	}
	for i := range c.Tools {
		count(c.Tools[i].Mark)
	}
	for i := range c.System {
		count(c.System[i].Mark)
	}
	for i := range c.Items {
		count(c.Items[i].Mark)
		for j := range c.Items[i].Parts {
			count(c.Items[i].Parts[j].Mark)
		}
	}
	return n
}

// mark writes a cache mark on the open block. Other dialects allow more of them,
// with other lifetimes in any order: the last ones are kept, each as long as it
// may be.
func (rw *requestWriter) mark(m rewrite.Mark) {
	if !m.Set {
		return
	}
	if !rw.own {
		if rw.skip > 0 {
			rw.skip--
			return
		}
		if m.TTL != "1h" || rw.short {
			m.TTL, rw.short = "", true
		}
	}
	w := &rw.w
	w.Name("cache_control")
	w.Open('{')
	w.Text("type", "ephemeral")
	w.Text("ttl", m.TTL)
	w.Close('}')
}
