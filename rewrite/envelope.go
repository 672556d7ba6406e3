package rewrite

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// envelopeMark begins every envelope; the number is its version.
const envelopeMark = "wp1."

// Envelope packs a payload into a string that any client carries in a field
// which is opaque to it, such as the signature of a thought. It is the inverse
// of OpenEnvelope.
func (p *Payload) Envelope() string {
	if p.Empty() {
		return ""
	}
	plain := strings.Join([]string{p.Provider, p.Format, p.Version, string(p.Value)}, "\x00")
	return envelopeMark + base64.RawURLEncoding.EncodeToString([]byte(plain))
}

// OpenEnvelope unpacks a payload; ok is false for a string that is no envelope,
// as what a provider made itself never is.
func OpenEnvelope(text string) (p Payload, ok bool) {
	packed, ok := strings.CutPrefix(text, envelopeMark)
	if !ok {
		return Payload{}, false
	}
	plain, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil {
		return Payload{}, false
	}
	fields := strings.SplitN(string(plain), "\x00", 4)
	if len(fields) != 4 || fields[3] == "" {
		return Payload{}, false
	}
	return Payload{Provider: fields[0], Format: fields[1], Version: fields[2], Value: JSON(fields[3])}, true
}

// HasEnvelopes reports whether the JSON text of a request holds what looks like an
// envelope, plain or in base64 once more.
func HasEnvelopes(body []byte) bool {
	return bytes.Contains(body, []byte(`"`+envelopeMark)) || bytes.Contains(body, []byte(`"d3AxL`))
}
