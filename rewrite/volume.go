package rewrite

// Volume is about how many bytes a conversation has as a request of any dialect,
// for who makes room for it.
func (c *Conversation) Volume() int {
	const request, item = 1024, 160 // what stands around them in most dialects
	n := request + volumeOf(c.System)
	for i := range c.Tools {
		t := &c.Tools[i]
		n += item + len(t.Name) + len(t.Description) + max(len(t.Schema), len(t.Payload.Value))
	}
	for i := range c.Items {
		it := &c.Items[i]
		n += item + len(it.Call.Arguments) + max(volumeOf(it.Parts), len(it.Payload.Value))
	}
	return n + n/8 // for escapes
}

// RoomFor is room for the items that a request of so many bytes is likely to have.
func RoomFor(bytes int) []Item {
	const each, most = 768, 256
	return make([]Item, 0, min(bytes/each, most)+4)
}

func volumeOf(parts []Part) (n int) {
	for i := range parts {
		p := &parts[i]
		n += max(len(p.Text)+len(p.Media.Data), len(p.Payload.Value)) + 40
	}
	return n
}
