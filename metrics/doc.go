// Package metrics counts what the gateway does. The part that other tools know
// has OpenTelemetry's GenAI names, the rest is named warmpath_.
//
// Label values come from closed sets: the enums of package rewrite and the
// provider and model names that were given to New or Reconfigure. Any other name
// is counted as "other", a request that never got as far has "none"; a key or a
// conversation is never a label. What a provider did not report is not counted
// as zero and never as a cache miss.
//
// Worst case for p providers and m models, each with one added for "other",
// where a histogram of b buckets is b+3 series:
//
//	170 p m²   tokens: 5 types, 2 operations, m response models, 14 buckets
//	 86 p m    tokens by cache, writes, outcomes, durations, gaps, savings, cost
//	450 (p+1)  requests: 5 dialects, 5 status classes, 18 reasons
//	 19 p      retries, fallbacks
//	 51 (p+1)  12 kinds of hosted tools in 4 states, citations
//	240        misses and their tokens: 15 reasons, 2 sources, 4 causers
//	 32        losses: 4 dialects of clients, 4 others of providers, 2 sides
//	 10        calls of tools that the gateway runs, replies in the ledger
//	 79        prompts: 3 kinds, 9 outcomes, how long they waited, sharing
//	 25 s      calls of s MCP servers by outcome, durations, states
//	 48        overhead by path, gauges, build
//
// The square needs a provider that answers for each model under the name of
// every other; one that answers under the name it was asked for, or a dated form
// of it, makes that term 170 p m. A series exists from the first request of its
// dialect, provider and model on; a removed name stays until a restart.
package metrics
