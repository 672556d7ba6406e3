package rewrite

// Volume is about how many bytes a conversation has as a request of any dialect,
// for who makes room for it.
func (c *Conversation) Volume() int {
	const request, element = 1024, 100 // what stands around them in most dialects
	n := request + volumeOf(c.System)
	for i := range c.Tools {
		t := &c.Tools[i]
		n += element + len(t.Name) + max(escaped(len(t.Description))+len(t.Schema), len(t.Payload.Value))
	}
	for i := range c.Items {
		it := &c.Items[i]
		n += element + max(escaped(len(it.Call.Arguments))+volumeOf(it.Parts), len(it.Payload.Value))
	}
	return n
}

func volumeOf(parts []Part) (n int) {
	const part = 25
	for i := range parts {
		p := &parts[i]
		n += part + max(escaped(len(p.Text))+len(p.Media.Data), len(p.Payload.Value))
	}
	return n
}

// escaped is about how long a text is in JSON.
func escaped(text int) int { return text + text/12 }

// RoomFor is room for the items that a request of so many bytes is likely to have.
func RoomFor(bytes int) []Item {
	const each, most = 768, 256
	return make([]Item, 0, min(bytes/each, most)+4)
}
