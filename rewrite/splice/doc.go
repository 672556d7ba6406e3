// Package splice reads and edits JSON text in place. It finds the members of an
// object without decoding it and applies any number of edits in one forward
// copy, so that every byte nobody asked to change stays as the client wrote it.
package splice
