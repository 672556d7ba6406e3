package metrics

import (
	"time"

	"warmpath/rewrite"
)

// Sample is what is known of one request once it is over. Zero durations were
// not measured and are not counted.
type Sample struct {
	// Status is the HTTP status that the client was sent, 0 if it was sent
	// none.
	Status int
	Reason rewrite.Reason
	Usage  rewrite.Usage
	// Cost is counted where the usage is known.
	Cost rewrite.Cost
	// Cache is counted only for requests that a provider accepted.
	Cache rewrite.CacheOutcome
	// ResponseModel is the model as the reply names it, empty if it does not.
	ResponseModel string
	// Path is what the gateway did to the body.
	Path Path
	// Overhead is the time the gateway itself took: all but the waiting for the
	// provider and for the client.
	Overhead time.Duration
	// TimeToFirstToken runs from the request's arrival to its first output.
	TimeToFirstToken time.Duration
	// Duration runs from the request's arrival to the last byte of its reply.
	Duration time.Duration
	// LongestGap is the longest silence between two reads of one stream.
	LongestGap time.Duration
	// Retries is how often the provider was called again. RetryUpstream has
	// counted each as it happened.
	Retries int
	Stream  bool
}

// Path is what the gateway did to a request's body.
type Path uint8

// The paths. PathThrough forwards the client's own bytes; PathSplice changes
// some in place; PathTranslate writes another dialect's.
const (
	PathThrough Path = iota
	PathSplice
	PathTranslate
)

// Paths lists every path for metric labels.
var Paths = []Path{PathThrough, PathSplice, PathTranslate}

// String is the path's metric label.
func (p Path) String() string {
	switch p {
	case PathThrough:
		return "through"
	case PathSplice:
		return "splice"
	case PathTranslate:
		return "translate"
	}
	return "through"
}

// class is the status class that a sample counts in. A client that left is
// recorded as 499 whatever it had been sent by then.
func (s *Sample) class() class {
	switch {
	case s.Reason == rewrite.ReasonClientGone:
		return classOf(rewrite.ReasonClientGone.Status())
	case s.Status == 0:
		return classOf(s.Reason.Status())
	}
	return classOf(s.Status)
}

// class is the first digit of a final HTTP status, as an index of Statuses.
type class uint8

const classes = 4

func classOf(status int) class {
	if status < 200 || status > 599 {
		return classOf(rewrite.ReasonInternal.Status())
	}
	return class(status/100 - 2)
}

// Statuses are the labels of classes of statuses.
var Statuses = []string{"2xx", "3xx", "4xx", "5xx"}

func (c class) String() string { return Statuses[c] }
