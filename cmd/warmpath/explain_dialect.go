package main

import (
	"warmpath/fixtures/session/imports"
	"warmpath/rewrite"
)

// otherDialect is an error about a body that is a request in another dialect.
type otherDialect struct{ file, dialect string }

// Error says what the file is and what can be compared.
func (e *otherDialect) Error() string {
	return e.file + " is a " + e.dialect + " request: only Messages requests (bodies of POST /v1/messages) can be compared file by file so far; " +
		"give both in one file, a line each, for a report"
}

// spoken are the dialects as people call them.
var spoken = map[rewrite.Dialect]string{
	rewrite.Messages: "Messages", rewrite.Completions: "Chat Completions", rewrite.Responses: "Responses", rewrite.Gemini: "Gemini",
}

// dialectOf names the dialect of a body.
func dialectOf(body []byte) string { return spoken[imports.DialectOf(body)] }
