package relay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/continuity"
)

func TestBetasGoAlongWithWhatNeedsThem(t *testing.T) {
	all := continuity.Abilities{Text: true, Reference: true, Define: true, Binding: true}
	efforts := continuity.Abilities{Text: true, Reference: true, Define: true, Effort: true}
	says := continuity.Edit{Bytes: []byte(`{"role":"system","content":[{"type":"text","text":"{\"type\":\"tool_addition\"}"}]}`)}
	adds := continuity.Edit{Bytes: []byte(`{"role":"system","content":[{"type":"tool_addition","tool":{}}]}`)}
	for name, test := range map[string]struct {
		able     continuity.Abilities
		leveled  bool
		inserts  []continuity.Edit
		early    bool
		drop     bool
		stripped bool
		want     []string
	}{
		"nothing edited":             {able: all},
		"nothing edited, but early":  {able: all, early: true, want: []string{betaDefine}},
		"early, by name only":        {able: continuity.Abilities{Text: true, Reference: true}, early: true, want: []string{betaByName}},
		"early, on a model without":  {early: true},
		"efforts, early":             {able: efforts, early: true, want: []string{betaDefine, betaEffort}},
		"efforts by message":         {able: efforts, leveled: true, want: []string{betaEffort}},
		"efforts refused":            {able: lacking(noBeta, []byte("messages.6.output_config: "+saysExtra), []string{betaDefine, betaEffort}).without(efforts), early: true, want: []string{betaDefine}},
		"the beta of efforts":        {able: lacking(noBeta, []byte(betaEffort), []string{betaDefine, betaEffort}).without(efforts), early: true, want: []string{betaDefine}},
		"text needs none":            {able: all, inserts: []continuity.Edit{says}},
		"tools from the first on":    {able: all, inserts: []continuity.Edit{adds, says}, want: []string{betaDefine}},
		"dropped thinking":           {able: all, drop: true, want: []string{betaBinding}},
		"thinking that is left out":  {able: all, drop: true, stripped: true},
		"both":                       {able: all, inserts: []continuity.Edit{adds}, drop: true, want: []string{betaDefine, betaBinding}},
		"a definition refused once":  {able: lacksDefine.without(all), early: true, want: []string{betaByName}},
		"all tool changes refused":   {able: (lacksDefine | lacksReference).without(all), early: true},
		"an unknown role of message": {able: lacking(noSystem, []byte(saysUnknown), nil).without(all), early: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &warmth{able: test.able, stripped: test.stripped, plan: &continuity.Plan{Inserts: test.inserts, Drop: test.drop, Next: &continuity.State{Leveled: test.leveled}}}
			if diff := cmp.Diff(test.want, w.needs(test.early)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
