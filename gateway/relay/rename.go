package relay

import "warmpath/rewrite"

// otherNames are the client's names of those tools that a provider knows by
// another.
func otherNames(tools []rewrite.Tool, toolName func(namespace, name string) string) (names map[string]string) {
	if toolName == nil {
		return nil
	}
	for i := range tools {
		name := tools[i].Name
		if space := tools[i].Namespace; space != "" {
			name = space + "__" + name // which encoders take apart again
		}
		if there := toolName("", name); there != name {
			if names == nil {
				names = map[string]string{}
			}
			names[there] = name
		}
	}
	return names
}

// renamed is an event in which a tool has the name that the client gave it.
func (t *translation) renamed(e *rewrite.Event) *rewrite.Event {
	if e.Item == nil || e.Item.Kind != rewrite.ItemCall {
		return e
	}
	name, ok := t.names[e.Item.Call.Name]
	if !ok {
		return e
	}
	item, renamed := *e.Item, *e
	item.Call.Name, renamed.Item = name, &item
	return &renamed
}
