// Package markdown draws Markdown as text for a terminal: wrapped to its width, with
// weights and colours where it has them, and with the marks of Markdown where it has
// not. What is drawn holds no sequence but those that set colours, whatever stands in
// the text: links are told in words, and only those that a browser may follow.
package markdown
