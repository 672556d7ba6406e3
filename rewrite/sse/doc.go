// Package sse splits a stream of server-sent events into its events, as the
// HTML Living Standard describes them, while the bytes themselves pass by
// untouched. It reads names and data; ids and retry times are nobody's concern
// here.
package sse
