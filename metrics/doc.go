// Package metrics counts what the gateway does. The part that other tools know
// has OpenTelemetry's GenAI names, the rest is named warmpath_.
//
// Label values come from closed sets: the enums of package rewrite and the
// provider and model names that were given to New or Reconfigure. Any other name
// is counted as "other", a request that never got as far has "none"; a key or a
// conversation is never a label. What a provider did not report is not counted
// as zero and never as a cache miss.
//
// How many series there can be at most is said in the README, by metric, and held
// there by a test from the closed sets of package fixtures/series. Series of models
// exist from the first reply that a provider has given for one, so that clients which
// ask everybody for everything make none; those of requests exist from the start. A
// removed name stays until a restart.
package metrics
