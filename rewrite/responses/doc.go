// Package responses reads and writes the Responses dialect, which OpenAI and
// the Open Responses servers speak.
package responses
