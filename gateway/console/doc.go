// Package console is the admin listener: metrics for Prometheus, probes, a page
// of numbers for people, the same in short as JSON, and what tools ask people. It
// only reads, but for the answers to that; it knows of the gateway what its Config
// hands it.
package console
