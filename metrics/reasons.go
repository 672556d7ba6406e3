package metrics

import "warmpath/rewrite"

// Retried are the reasons for which a provider may be called again.
var Retried = []rewrite.Reason{rewrite.ReasonProvider, rewrite.ReasonUnreachable, rewrite.ReasonUpstreamBroken}

// beforeProvider reports whether a request can end for this reason while no
// provider has been chosen for it.
func beforeProvider(r rewrite.Reason) bool {
	switch r {
	case rewrite.ReasonBadRequest, rewrite.ReasonUnauthorized, rewrite.ReasonForbidden, rewrite.ReasonNotFound,
		rewrite.ReasonMethod, rewrite.ReasonTooLarge, rewrite.ReasonHeadersTooLarge, rewrite.ReasonBusy,
		rewrite.ReasonTimeout, rewrite.ReasonClientGone, rewrite.ReasonDraining, rewrite.ReasonInternal:
		return true
	case rewrite.ReasonNone, rewrite.ReasonProvider, rewrite.ReasonUnreachable, rewrite.ReasonUpstreamTimeout,
		rewrite.ReasonUpstreamBroken, rewrite.ReasonStreamCut:
	}
	return false
}

// withProvider reports whether a request can end for this reason once its
// provider has been chosen.
func withProvider(r rewrite.Reason) bool {
	switch r {
	case rewrite.ReasonNone, rewrite.ReasonProvider, rewrite.ReasonUnreachable, rewrite.ReasonUpstreamTimeout,
		rewrite.ReasonUpstreamBroken, rewrite.ReasonStreamCut, rewrite.ReasonClientGone, rewrite.ReasonBusy,
		rewrite.ReasonDraining, rewrite.ReasonInternal:
		return true
	case rewrite.ReasonBadRequest, rewrite.ReasonUnauthorized, rewrite.ReasonForbidden, rewrite.ReasonNotFound,
		rewrite.ReasonMethod, rewrite.ReasonTooLarge, rewrite.ReasonHeadersTooLarge, rewrite.ReasonTimeout:
	}
	return false
}
