// Package lineage finds out which conversation a request goes on with. A
// history is a chain of hashes, one for each message, and the state of a
// conversation stands under the hash of the history it has sent; the longest
// known one wins. Forks work by themselves, and an edited history matches less.
// Nothing here is needed for an answer: what the store has lost costs a cache
// miss.
package lineage
