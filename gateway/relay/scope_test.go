package relay

import (
	"encoding/base64"
	"testing"

	"warmpath/gateway/upstream"
)

func fieldsOf(pairs ...string) (fields []upstream.Field) {
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, upstream.Field{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return fields
}

func signed(claims, signature string) string {
	return "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "." + signature
}

// Two tenants are never taken for one, and one is not taken for two because a
// token was renewed.
func TestTenants(t *testing.T) {
	const session, oat = "X-Claude-Code-Session-Id", "Bearer sk-ant-oat01-"
	tests := map[string]struct {
		one, other []string
		same       bool
	}{
		"one key":                     {[]string{"X-Api-Key", "a"}, []string{"x-api-key", "a"}, true},
		"two keys":                    {[]string{"X-Api-Key", "a"}, []string{"X-Api-Key", "b"}, false},
		"key and token":               {[]string{"X-Api-Key", "a"}, []string{"Authorization", "Bearer a"}, false},
		"two tokens":                  {[]string{"Authorization", "Bearer a"}, []string{"Authorization", "Bearer b"}, false},
		"two schemes":                 {[]string{"Authorization", "Bearer a"}, []string{"Authorization", "Basic a"}, false},
		"a shared key and two tokens": {[]string{"Warmpath-Key", "team", "Authorization", "Bearer a"}, []string{"Warmpath-Key", "team", "Authorization", "Bearer b"}, false},
		"a dummy key and two tokens":  {[]string{"X-Api-Key", "any", "Authorization", "Bearer a"}, []string{"X-Api-Key", "any", "Authorization", "Bearer b"}, false},
		"a subject's tokens":          {[]string{"Authorization", signed(`{"iss":"i","sub":"s","exp":1}`, "x")}, []string{"Authorization", signed(`{"iss":"i","sub":"s","exp":2}`, "y")}, true},
		"two subjects":                {[]string{"Authorization", signed(`{"iss":"i","sub":"s"}`, "x")}, []string{"Authorization", signed(`{"iss":"i","sub":"t"}`, "x")}, false},
		"two issuers":                 {[]string{"Authorization", signed(`{"iss":"i","sub":"s"}`, "x")}, []string{"Authorization", signed(`{"iss":"j","sub":"s"}`, "x")}, false},
		"a subject with two keys":     {[]string{"X-Api-Key", "a", "Authorization", signed(`{"iss":"i","sub":"s"}`, "x")}, []string{"X-Api-Key", "b", "Authorization", signed(`{"iss":"i","sub":"s"}`, "x")}, false},
		"a login's tokens, a session": {[]string{"Authorization", oat + "a", session, "1"}, []string{"Authorization", oat + "b", session, "1"}, true},
		"two sessions of a login":     {[]string{"Authorization", oat + "a", session, "1"}, []string{"Authorization", oat + "b", session, "2"}, false},
		"opaque tokens, one session":  {[]string{"Authorization", "Bearer a", session, "1"}, []string{"Authorization", "Bearer b", session, "1"}, false},
		"nobody":                      {nil, nil, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if same := tenant(fieldsOf(tt.one...)) == tenant(fieldsOf(tt.other...)); same != tt.same {
				t.Errorf("taken for one: %v", same)
			}
		})
	}
}
