// Package gemini reads and writes Google's generateContent dialect.
package gemini
