package rewrite

// Diagnosis is what a provider answers when it is asked how a request differs
// from the one before it. It compares requests, not caches: requests that are
// the same may still find nothing.
type Diagnosis uint8

// The diagnoses. DiagnosisNone was not asked for, or not given.
const (
	DiagnosisNone Diagnosis = iota
	// DiagnosisSame found no difference, or is that of a first request.
	DiagnosisSame
	// DiagnosisPending had not compared the two yet.
	DiagnosisPending
	DiagnosisModel
	DiagnosisSystem
	DiagnosisTools
	DiagnosisMessages
	// DiagnosisUnavailable could not compare them: parameters beside the prompt
	// differ, or the difference lies too far back.
	DiagnosisUnavailable
	// DiagnosisLost no longer knew the earlier request.
	DiagnosisLost
	// DiagnosisOther is one that this version has no word for.
	DiagnosisOther
)

// Diagnoses lists every diagnosis for tables.
var Diagnoses = []Diagnosis{
	DiagnosisNone, DiagnosisSame, DiagnosisPending, DiagnosisModel, DiagnosisSystem, DiagnosisTools, DiagnosisMessages,
	DiagnosisUnavailable, DiagnosisLost, DiagnosisOther,
}

// String is the diagnosis in a record; empty for none.
func (d Diagnosis) String() string {
	switch d {
	case DiagnosisSame:
		return "same"
	case DiagnosisPending:
		return "pending"
	case DiagnosisModel:
		return "model_changed"
	case DiagnosisSystem:
		return "system_changed"
	case DiagnosisTools:
		return "tools_changed"
	case DiagnosisMessages:
		return "messages_changed"
	case DiagnosisUnavailable:
		return "unavailable"
	case DiagnosisLost:
		return "previous_message_not_found"
	case DiagnosisOther:
		return "other"
	case DiagnosisNone:
	}
	return ""
}
