// Package console is the admin listener: metrics for Prometheus, probes, a page
// of numbers for people and the same in short as JSON. It only reads; it knows
// of the gateway what its Config hands it.
package console
