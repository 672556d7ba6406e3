// Package anthropic reads and writes the Messages dialect: what routing needs
// of a request, what a reply reports, and the errors that its clients know.
package anthropic
