// Package watch shows a conversation in a terminal as a chat: what people and the
// model say on standard output, and all else, calls of tools and what they gave, on
// standard error. It reads the log of a running gateway through its admin address, and
// draws the same whether the conversation is over or still going on. Prompts that wait
// for somebody can be answered by typed lines.
package watch
