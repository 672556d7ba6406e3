package rewrite

import "strconv"

// Forget leaves out the reasoning of earlier turns, for a provider that will not
// take it back: it was made for another prompt, or by somebody else.
func (c *Conversation) Forget(losses *Losses) {
	for i := range c.Items {
		if item := &c.Items[i]; item.Kind == ItemReasoning && !item.Payload.Empty() {
			item.Payload = Payload{}
			losses.Add("items."+strconv.Itoa(i), "reasoning that the provider does not take back")
		}
	}
}
