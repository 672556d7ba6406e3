package continuity

import "warmpath/rewrite"

// Miss is why a request found less in the provider's cache than had been put
// there, or found nothing.
type Miss string

// The misses. NoMiss is a request that found what it should, or of which the
// provider does not say.
const (
	NoMiss          Miss = ""
	ModelMiss       Miss = "model_changed"
	SystemMiss      Miss = "system_changed"
	ToolsMiss       Miss = "tools_changed"
	MessagesMiss    Miss = "messages_changed"
	ParamsMiss      Miss = "params_changed"
	BetasMiss       Miss = "betas_changed"
	ExpiryMiss      Miss = "ttl_expiry"
	AwaitedMiss     Miss = "person_awaited"
	ColdMiss        Miss = "cold_start"
	ShortMiss       Miss = "below_minimum"
	RewrittenMiss   Miss = "history_rewritten"
	EpochMiss       Miss = "epoch"
	RouteMiss       Miss = "route_changed"
	UnexplainedMiss Miss = "provider_unexplained"
	UnknownMiss     Miss = "unknown"
)

const (
	byClient, byGateway  = "client", "gateway"
	byProvider, byNobody = "provider", "unknown"
)

// Misses are all reasons of a miss, MissSources who can say so, and MissCausers
// whose doing one can be.
var (
	Misses = []Miss{
		ModelMiss, SystemMiss, ToolsMiss, MessagesMiss, ParamsMiss, BetasMiss, ExpiryMiss, AwaitedMiss, ColdMiss, ShortMiss,
		RewrittenMiss, EpochMiss, RouteMiss, UnexplainedMiss, UnknownMiss,
	}
	MissSources = []string{byGateway, byProvider}
	MissCausers = []string{byClient, byGateway, byProvider, byNobody}
)

// Evidence is what there is to judge by how a request met the provider's cache.
type Evidence struct {
	// Opening is a request that holds no reply yet, and Marked one that asks the
	// provider to look in its cache.
	Opening, Marked bool
	// Minimum is the shortest prompt that the model caches, in tokens; 0 is not
	// known.
	Minimum int
	// Last is the turn before, nil if none is known, and Elapsed the seconds since
	// it began. Awaited is how many of these a person was waited for in.
	Last             *Turn
	Elapsed, Awaited int
	// Elsewhere is the reason if the request does not go on from that turn: it went
	// to another model or another way, or its tools or its system prompt began
	// otherwise.
	Elsewhere Miss
	// Rewritten says that the client has changed what it had sent.
	Rewritten bool
	// Epoch is why the prefix was begun anew, and Edited says that the request was
	// not sent as it came.
	Epoch  Reason
	Edited bool
	// Params, Betas, Own and Spelled say what differs from the turn before: the
	// parameters, the betas as sent, those of the client, the spelling of messages.
	Params, Betas, Own, Spelled bool
}

// Verdict is how a request met the provider's cache. The zero Verdict is no miss.
type Verdict struct {
	Miss Miss
	// Source is who found the reason, By whose doing it was.
	Source, By string
	// Expected is how many tokens the cache should have had, and Missed how many
	// of them were processed again; both are 0 where nothing was to be expected.
	Expected, Missed int64
}

// Judge finds the reason of a miss. What the provider does not report is none,
// and so is a request that asks for nothing to be read.
func (e *Evidence) Judge(u *rewrite.Usage, said rewrite.Diagnosis) Verdict {
	if !u.CacheRead.Known || !u.InputTotal.Known || !e.Marked {
		return Verdict{}
	}
	read, total := u.CacheRead.N, u.InputTotal.N
	v := Verdict{}
	if e.Last != nil && e.Last.Reported {
		v.Expected = int64(e.Last.Cached)
	}
	if v.Expected > total {
		// A prompt that has become shorter cannot find all of it. Otherwise the
		// figure is that of several steps of one call, and says nothing here.
		if v.Expected = 0; e.Elsewhere != NoMiss || e.Rewritten || e.Epoch != None && e.Epoch != Fresh {
			v.Expected = total
		}
	}
	if read > 0 && v.Expected-read <= v.Expected/20 {
		return Verdict{}
	}
	v.Missed = max(v.Expected-read, 0)
	v.Miss, v.Source = e.reason(v.Expected > 0, u, said)
	v.By = e.by(&v)
	return v
}

// reason is the first that accounts for the miss, and who says so.
func (e *Evidence) reason(expected bool, u *rewrite.Usage, said rewrite.Diagnosis) (Miss, string) {
	if !expected {
		switch {
		case u.CacheWrite.N == 0 && u.InputTotal.N < int64(e.Minimum):
			return ShortMiss, byGateway
		case e.Opening, e.Last != nil && e.Last.Reported && e.Last.Cached == 0:
			// Nothing had been put there.
			return ColdMiss, byGateway
		}
	}
	if why := e.changed(); why != NoMiss {
		if string(why) == said.String() {
			return why, byProvider
		}
		return why, byGateway
	}
	switch said {
	case rewrite.DiagnosisModel, rewrite.DiagnosisSystem, rewrite.DiagnosisTools, rewrite.DiagnosisMessages:
		return Miss(said.String()), byProvider
	default:
	}
	switch {
	case !expected:
		return UnknownMiss, byGateway
	case e.Params:
		return ParamsMiss, byGateway
	case e.Betas:
		return BetasMiss, byGateway
	case e.Spelled:
		return MessagesMiss, byGateway
	}
	return UnexplainedMiss, byGateway
}

// changed is a reason that stands whatever else there is.
func (e *Evidence) changed() Miss {
	switch {
	case e.Elsewhere != NoMiss:
		return e.Elsewhere
	case e.Last != nil && e.Last.Lifetime > 0 && e.Elapsed > e.Last.Lifetime:
		if e.Elapsed-e.Awaited <= e.Last.Lifetime {
			return AwaitedMiss // but for that it would have been there
		}
		return ExpiryMiss
	case e.Rewritten, e.Epoch == HistoryRewritten:
		return RewrittenMiss
	}
	switch e.Epoch {
	case None, Fresh:
		return NoMiss
	case ToolsChanged:
		return ToolsMiss
	case SystemChanged:
		return SystemMiss
	case EffortChanged:
		return ParamsMiss
	default:
		return EpochMiss
	}
}

// by is whose doing a miss was. That of the gateway must never happen: it has
// changed what the client left alone, or lost what it had to remember.
func (e *Evidence) by(v *Verdict) string {
	switch v.Miss {
	case UnexplainedMiss:
		return byProvider
	case UnknownMiss:
		return byNobody
	case EpochMiss:
		if e.Epoch != DirectiveTooBig {
			return byGateway
		}
	case BetasMiss:
		if !e.Own {
			return byGateway
		}
	case ToolsMiss, SystemMiss, MessagesMiss:
		if e.changed() == NoMiss && e.Edited && !e.Spelled {
			return byGateway
		}
	default:
	}
	return byClient
}
