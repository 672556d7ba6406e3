// Package upstream is the HTTP/1.1 client that talks to providers. It keeps
// connections alive, can be cancelled in every phase, bounds each phase by its
// own deadline, and hands out a reply's bytes as they arrive: whatever has
// already come is given out together, and nothing waits for more.
//
// Connections come from fasthttp's host pools; the exchange on them is ours,
// because the stock client can be cancelled neither before the response head
// nor while a stream is silent.
package upstream
