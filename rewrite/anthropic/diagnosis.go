package anthropic

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readDiagnosis reads what the provider says about the request before this one.
// Null is an answer too: the two do not differ, or there was none to compare
// with. A reason of null is none yet.
func readDiagnosis(diagnostics []byte, r *rewrite.Report) {
	r.Diagnosis = rewrite.DiagnosisSame
	splice.Fields(diagnostics, func(key, value []byte) bool {
		if string(key) != "cache_miss_reason" {
			return true
		}
		r.Diagnosis = rewrite.DiagnosisPending
		splice.Fields(value, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				r.Diagnosis = diagnosisOf(value)
			case "cache_missed_input_tokens":
				r.Diverged = splice.Count(value)
			}
			return true
		})
		return true
	})
}

// diagnosisOf gives the diagnosis of a reason's type.
func diagnosisOf(value []byte) rewrite.Diagnosis {
	word, _ := splice.String(value)
	for _, d := range rewrite.Diagnoses {
		if d >= rewrite.DiagnosisModel && d.String() == string(word) {
			return d
		}
	}
	return rewrite.DiagnosisOther
}

// Diagnostics is the member of a request that asks how it differs from the one
// that was answered by a message of the given ID; with none it makes the request
// one that a later one can be compared with.
func Diagnostics(previous string) []byte {
	if previous == "" {
		return []byte(`{"previous_message_id":null}`)
	}
	return append(quote([]byte(`{"previous_message_id":`), previous), '}')
}
