package relay

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warmpath/gateway/catalog"
	"warmpath/gateway/secret"
	"warmpath/gateway/upstream"
)

// What is sent again is signed anew: for the body that it has now, at the time it
// is now.
func TestEachAttemptIsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &catalog.Provider{KeyStyle: catalog.KeySigned, Signing: catalog.Signing{
			AccessKey: secret.New("KEY1"), SecretKey: secret.New("hidden"), Service: "bedrock", Region: "eu-central-1",
		}}
		x := &exchange{lines: new(lines), target: catalog.Target{Provider: p}}
		x.out = upstream.Request{Origin: "https://bedrock-runtime.eu-central-1.amazonaws.com", Method: "POST", Target: []byte("/model/m%3A0/converse"), Body: []byte("{}")}
		x.out.Fields = []upstream.Field{
			{Name: []byte("Content-Type"), Value: []byte("application/json")}, {Name: []byte("x-amz-date"), Value: []byte("theirs")},
			{Name: []byte("authorization"), Value: []byte("theirs")}, {Name: []byte("X-Request-Id"), Value: []byte("1")},
		}
		var signatures []string
		for _, change := range []func(){
			func() {}, func() {}, func() { time.Sleep(time.Second) }, func() { x.out.Body = []byte("{ }") }, func() { x.out.Target = []byte("/model/m%3A0/converse-stream") },
		} {
			change()
			x.sign()
			var names []string
			for _, f := range x.out.Fields {
				names = append(names, string(f.Name))
				if f.Is("authorization") {
					signatures = append(signatures, string(f.Value))
				}
				if strings.Contains(string(f.Value), "hidden") || strings.Contains(string(f.Value), "theirs") {
					t.Errorf("%s: %s", f.Name, f.Value)
				}
			}
			if got := strings.Join(names, " "); got != "Content-Type X-Request-Id X-Amz-Date X-Amz-Content-Sha256 Authorization" {
				t.Errorf("the lines are %s", got)
			}
		}
		if signatures[0] != signatures[1] || len(slices.Compact(signatures)) != 4 {
			t.Errorf("%q", signatures)
		}
	})
}

func TestKeysAreNotSigned(t *testing.T) {
	x := &exchange{lines: new(lines), target: catalog.Target{Provider: &catalog.Provider{KeyStyle: catalog.KeyBearer}}}
	x.out.Fields = []upstream.Field{{Name: []byte("Authorization"), Value: []byte("Bearer key")}}
	if x.sign(); len(x.out.Fields) != 1 {
		t.Errorf("%q", x.out.Fields)
	}
}
