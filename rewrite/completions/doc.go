// Package completions reads and writes the Chat Completions dialect as OpenAI
// speaks it and as the many compatible servers do, each with counters of its
// own.
package completions
