// Package front is the client's side of the gateway: it listens, reads requests
// within bounds, tells dialect and operation from the path, and writes the
// relay's replies. Requests that another server might read differently than we
// do are refused here.
package front
