package relay

import (
	"testing"
	"time"

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
		"the beta of efforts":        {able: lacking(noBeta, []byte(saysBetas+betaEffort), []string{betaDefine, betaEffort}).without(efforts), early: true, want: []string{betaDefine}},
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

func TestWhatIsLearnedOfRefusals(t *testing.T) {
	const changes = lacksDefine | lacksReference
	for name, test := range map[string]struct {
		why   retreat
		words string
		want  lack
	}{
		"a deferred tool":              {noBeta, "tools.2.custom.defer_loading: " + saysExtra, changes},
		"a reference":                  {noBeta, "messages.3.content.0.tool_addition.tool.tool_reference: " + saysExtra, changes},
		"two at once":                  {noBeta, "messages.3.content.0.tool_removal: " + saysExtra + `\nmessages.4.output_config: ` + saysExtra, changes | lacksEffort},
		"a control of thinking":        {noBeta, "thinking.adaptive.block_binding: " + saysExtra, lacksBinding},
		"the client's effort":          {noBeta, "output_config.effort: " + saysExtra, 0},
		"the client's field":           {noBeta, "messages.3.content.0.foo: " + saysExtra, 0},
		"the client's field, quoted":   {noBeta, "messages.3.foo: " + saysExtra + " (tool_addition)", 0},
		"no field at all":              {noBeta, saysExtra, 0},
		"another's beta":               {noBeta, "Unexpected value(s) `foo-2030-01-01` for the `anthropic-beta` header.", 0},
		"the beta of another sentence": {noBeta, betaDefine + " is a fine name", 0},
		"the automatic mark":           {noMarks, "cache_control: " + saysExtra, lacksAutomatic},
		"the mark of a message":        {noMarks, "messages.0.content.4.cache_control: " + saysExtra, 0},
		"a misplaced message":          {noSystem, "messages.3: role 'system' must precede an 'assistant' message", 0},
		"roles":                        {noSystem, "messages.3.role: Input should be 'user' or 'assistant'", lacksText | changes},
		"anything, at the last":        {noEdits, "tools.2.custom.defer_loading: " + saysExtra, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lacking(test.why, []byte(`{"error":{"message":"`+test.words+`"}}`), []string{betaDefine, betaEffort}); got != test.want {
				t.Errorf("got %b, want %b", got, test.want)
			}
		})
	}
}

// Only the step back that made the request succeed was at what was wrong.
func TestOnlyTheLastRetreatTeaches(t *testing.T) {
	w := &warmth{betas: []string{betaDefine}}
	w.refused(noBeta, []byte(saysBetas+betaDefine))
	w.refused(noEdits, []byte("no"))
	if w.lacks != 0 || w.gone != lacksDefine {
		t.Errorf("learned %b, gone without %b", w.lacks, w.gone)
	}
}

func TestLessonsAreForgotten(t *testing.T) {
	all := continuity.Abilities{Text: true, Define: true}
	first := time.Unix(1e9, 0)
	var r refusals
	r.add("p", "m", lacksDefine, first)
	r.add("p", "m", lacksText, first.Add(time.Minute))
	for _, test := range []struct {
		after time.Duration
		model string
		want  continuity.Abilities
	}{{time.Minute, "m", continuity.Abilities{}}, {believed, "m", continuity.Abilities{}}, {believed + time.Minute, "m", all}, {time.Minute, "other", all}} {
		if diff := cmp.Diff(test.want, r.without("p", test.model, all, first.Add(test.after))); diff != "" {
			t.Errorf("%s after %v: %s", test.model, test.after, diff)
		}
	}
	// What was forgotten does not come back with what is found next.
	r.add("p", "m", lacksText, first.Add(2*believed))
	if got := r.without("p", "m", all, first.Add(2*believed)); !got.Define || got.Text {
		t.Errorf("got %+v", got)
	}
}
