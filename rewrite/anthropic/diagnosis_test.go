package anthropic_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

func TestDiagnosis(t *testing.T) {
	tests := map[string]struct {
		diagnostics string
		want        rewrite.Diagnosis
		diverged    rewrite.Count
	}{
		"not asked":       {"", rewrite.DiagnosisNone, rewrite.Count{}},
		"no difference":   {`null`, rewrite.DiagnosisSame, rewrite.Count{}},
		"still comparing": {`{"cache_miss_reason":null}`, rewrite.DiagnosisPending, rewrite.Count{}},
		"tools":           {`{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":41000}}`, rewrite.DiagnosisTools, rewrite.Tokens(41000)},
		"system":          {`{"cache_miss_reason":{"cache_missed_input_tokens":5,"type":"system_changed"}}`, rewrite.DiagnosisSystem, rewrite.Tokens(5)},
		"messages":        {`{"cache_miss_reason":{"type":"messages_changed","cache_missed_input_tokens":0}}`, rewrite.DiagnosisMessages, rewrite.Tokens(0)},
		"model":           {`{"cache_miss_reason":{"type":"model_changed"}}`, rewrite.DiagnosisModel, rewrite.Count{}},
		"unavailable":     {`{"cache_miss_reason":{"type":"unavailable"}}`, rewrite.DiagnosisUnavailable, rewrite.Count{}},
		"lost":            {`{"cache_miss_reason":{"type":"previous_message_not_found"}}`, rewrite.DiagnosisLost, rewrite.Count{}},
		"a new word":      {`{"cache_miss_reason":{"type":"moon_changed"}}`, rewrite.DiagnosisOther, rewrite.Count{}},
		"no such word":    {`{"cache_miss_reason":{"type":"same"}}`, rewrite.DiagnosisOther, rewrite.Count{}},
		"a new shape":     {`[1]`, rewrite.DiagnosisSame, rewrite.Count{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			message := `{"id":"msg_1","type":"message"`
			if test.diagnostics != "" {
				message += `,"diagnostics":` + test.diagnostics
			}
			message += `}`
			var whole, streamed rewrite.Report
			anthropic.ReadReply([]byte(message), &whole)
			anthropic.ReadEvent([]byte("message_start"), []byte(`{"type":"message_start","message":`+message+`}`), &streamed)
			for how, r := range map[string]rewrite.Report{"whole": whole, "streamed": streamed} {
				if r.Diagnosis != test.want || r.Diverged != test.diverged {
					t.Errorf("%s: %v, %v tokens", how, r.Diagnosis, r.Diverged)
				}
			}
		})
	}
}

func TestDiagnosticsAsked(t *testing.T) {
	for previous, want := range map[string]string{
		"":         `{"previous_message_id":null}`,
		"msg_1":    `{"previous_message_id":"msg_1"}`,
		"a\"b\x00": `{"previous_message_id":"a\"b\u0000"}`,
	} {
		if got := string(anthropic.Diagnostics(previous)); got != want {
			t.Errorf("after %q: %s", previous, got)
		}
	}
}
