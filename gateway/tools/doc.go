// Package tools has what the gateway runs itself when a model calls it: the tools of
// a route, how one of them is called, and what it gives.
package tools
