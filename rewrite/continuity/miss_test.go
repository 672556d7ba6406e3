package continuity

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// met is what a provider reports of a prompt: read, written, and the rest.
func met(read, written, fresh int64) rewrite.Usage {
	return rewrite.Usage{
		CacheRead: rewrite.Tokens(read), CacheWrite: rewrite.Tokens(written), InputFresh: rewrite.Tokens(fresh),
		InputTotal: rewrite.Tokens(read + written + fresh),
	}
}

// TestJudge has a case for each reason of the closed set, and for what is none.
func TestJudge(t *testing.T) {
	last := &Turn{Cached: 10_000, Reported: true, Lifetime: 300}
	anew := met(0, 11_000, 0)
	some := met(4000, 7000, 0)
	miss := func(why Miss, source, by string, missed int64) Verdict {
		return Verdict{why, source, by, 10_000, missed}
	}
	const client, gateway, provider = "client", "gateway", "provider"
	tests := map[string]struct {
		e    Evidence
		u    rewrite.Usage
		said rewrite.Diagnosis
		want Verdict
	}{
		"read as written":            {Evidence{Marked: true, Last: last}, met(10_000, 900, 0), 0, Verdict{}},
		"nearly all of it":           {Evidence{Marked: true, Last: last}, met(9600, 900, 0), 0, Verdict{}},
		"changed, and read":          {Evidence{Marked: true, Last: last, Epoch: ToolsChanged}, met(10_000, 900, 0), rewrite.DiagnosisTools, Verdict{}},
		"not asked to be read":       {Evidence{Last: last}, anew, 0, Verdict{}},
		"nothing reported":           {Evidence{Marked: true, Last: last}, rewrite.Usage{InputTotal: rewrite.Tokens(9)}, 0, Verdict{}},
		"no total":                   {Evidence{Marked: true, Last: last}, rewrite.Usage{CacheRead: rewrite.Tokens(0)}, 0, Verdict{}},
		"warmed by another":          {Evidence{Marked: true, Opening: true}, some, 0, Verdict{}},
		"counted over several steps": {Evidence{Marked: true, Last: &Turn{Cached: 50_000, Reported: true}}, some, 0, Verdict{}},

		"another model":                     {Evidence{Marked: true, Last: last, Elsewhere: ModelMiss}, anew, 0, miss(ModelMiss, gateway, client, 10_000)},
		"another model, both say":           {Evidence{Marked: true, Last: last, Elsewhere: ModelMiss}, anew, rewrite.DiagnosisModel, miss(ModelMiss, provider, client, 10_000)},
		"another way":                       {Evidence{Marked: true, Last: last, Elsewhere: RouteMiss}, anew, 0, miss(RouteMiss, gateway, client, 10_000)},
		"expired":                           {Evidence{Marked: true, Last: last, Elapsed: 301}, anew, 0, miss(ExpiryMiss, gateway, client, 10_000)},
		"expired, and changed":              {Evidence{Marked: true, Last: last, Elapsed: 301, Epoch: ToolsChanged}, anew, rewrite.DiagnosisTools, miss(ExpiryMiss, gateway, client, 10_000)},
		"WT-10 a person awaited":            {Evidence{Marked: true, Last: last, Elapsed: 350, Awaited: 330}, anew, 0, miss(AwaitedMiss, gateway, client, 10_000)},
		"WT-10 expired beside a short wait": {Evidence{Marked: true, Last: last, Elapsed: 350, Awaited: 40}, anew, 0, miss(ExpiryMiss, gateway, client, 10_000)},
		"WT-10 waited and still there":      {Evidence{Marked: true, Last: last, Elapsed: 299, Awaited: 290}, anew, 0, miss(UnexplainedMiss, gateway, provider, 10_000)},
		"not expired yet":                   {Evidence{Marked: true, Last: last, Elapsed: 300}, anew, 0, miss(UnexplainedMiss, gateway, provider, 10_000)},
		"rewritten":                         {Evidence{Marked: true, Last: last, Rewritten: true}, some, 0, miss(RewrittenMiss, gateway, client, 6000)},
		"rewritten and shorter":             {Evidence{Marked: true, Last: last, Rewritten: true}, met(1000, 4000, 0), 0, Verdict{RewrittenMiss, gateway, client, 5000, 4000}},
		"tools":                             {Evidence{Marked: true, Last: last, Epoch: ToolsChanged}, anew, 0, miss(ToolsMiss, gateway, client, 10_000)},
		"tools, both say":                   {Evidence{Marked: true, Last: last, Epoch: ToolsChanged}, anew, rewrite.DiagnosisTools, miss(ToolsMiss, provider, client, 10_000)},
		"tools by the gateway":              {Evidence{Marked: true, Last: last, Edited: true}, anew, rewrite.DiagnosisTools, miss(ToolsMiss, provider, gateway, 10_000)},
		"system":                            {Evidence{Marked: true, Last: last, Epoch: SystemChanged}, some, 0, miss(SystemMiss, gateway, client, 6000)},
		"the effort":                        {Evidence{Marked: true, Last: last, Epoch: EffortChanged}, some, 0, miss(ParamsMiss, gateway, client, 6000)},
		"a directive too big":               {Evidence{Marked: true, Last: last, Epoch: DirectiveTooBig}, anew, rewrite.DiagnosisSystem, miss(EpochMiss, gateway, client, 10_000)},
		"lost bytes":                        {Evidence{Marked: true, Last: last, Epoch: BytesLost}, anew, 0, miss(EpochMiss, gateway, gateway, 10_000)},
		"lost bytes, and shorter":           {Evidence{Marked: true, Last: last, Epoch: BytesLost}, met(0, 9000, 0), 0, Verdict{EpochMiss, gateway, gateway, 9000, 9000}},
		"a retreat":                         {Evidence{Marked: true, Last: last, Epoch: "retreat"}, anew, 0, miss(EpochMiss, gateway, gateway, 10_000)},
		"params":                            {Evidence{Marked: true, Last: last, Params: true, Betas: true}, anew, rewrite.DiagnosisUnavailable, miss(ParamsMiss, gateway, client, 10_000)},
		"the client's betas":                {Evidence{Marked: true, Last: last, Betas: true, Own: true}, anew, rewrite.DiagnosisUnavailable, miss(BetasMiss, gateway, client, 10_000)},
		"the gateway's betas":               {Evidence{Marked: true, Last: last, Betas: true}, anew, 0, miss(BetasMiss, gateway, gateway, 10_000)},
		"messages written anew":             {Evidence{Marked: true, Last: last, Spelled: true}, some, 0, miss(MessagesMiss, gateway, client, 6000)},
		"messages, both say":                {Evidence{Marked: true, Last: last, Spelled: true}, some, rewrite.DiagnosisMessages, miss(MessagesMiss, provider, client, 6000)},
		"messages by nobody known":          {Evidence{Marked: true, Last: last}, some, rewrite.DiagnosisMessages, miss(MessagesMiss, provider, client, 6000)},
		"nobody knows why":                  {Evidence{Marked: true, Last: last}, anew, rewrite.DiagnosisSame, miss(UnexplainedMiss, gateway, provider, 10_000)},

		"the first request":        {Evidence{Marked: true, Opening: true}, anew, 0, Verdict{Miss: ColdMiss, Source: gateway, By: client}},
		"nothing was put there":    {Evidence{Marked: true, Last: &Turn{Reported: true}}, anew, 0, Verdict{Miss: ColdMiss, Source: gateway, By: client}},
		"too short":                {Evidence{Marked: true, Opening: true, Minimum: 1024}, met(0, 0, 1000), 0, Verdict{Miss: ShortMiss, Source: gateway, By: client}},
		"too short again":          {Evidence{Marked: true, Minimum: 1024, Last: &Turn{Reported: true}}, met(0, 0, 1000), 0, Verdict{Miss: ShortMiss, Source: gateway, By: client}},
		"a turn nobody remembers":  {Evidence{Marked: true}, anew, 0, Verdict{Miss: UnknownMiss, Source: gateway, By: "unknown"}},
		"a turn that was cut":      {Evidence{Marked: true, Last: &Turn{}, Params: true}, anew, 0, Verdict{Miss: UnknownMiss, Source: gateway, By: "unknown"}},
		"cut, and then rewritten":  {Evidence{Marked: true, Last: &Turn{}, Rewritten: true}, anew, 0, Verdict{Miss: RewrittenMiss, Source: gateway, By: client}},
		"forgotten, and it is not": {Evidence{Marked: true}, anew, rewrite.DiagnosisSystem, Verdict{Miss: SystemMiss, Source: provider, By: client}},
	}
	var seen []Miss
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.e.Judge(&test.u, test.said)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Miss != NoMiss && (!slices.Contains(MissSources, got.Source) || !slices.Contains(MissCausers, got.By)) {
				t.Errorf("%q or %q is in no closed set", got.Source, got.By)
			}
		})
		seen = append(seen, test.want.Miss)
	}
	for _, why := range Misses {
		if !slices.Contains(seen, why) {
			t.Errorf("no case comes to %s", why)
		}
	}
}
