package sign_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/secret"
	"warmpath/gateway/sign"
)

var at = time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("CET", 3600))

func scope() *sign.Scope {
	return &sign.Scope{
		AccessKey: secret.New("AKIDEXAMPLE"), SecretKey: secret.New("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
		SessionToken: secret.New("token-1"), Service: "bedrock", Region: "eu-central-1",
	}
}

func request() *sign.Request {
	return &sign.Request{
		Method: "POST", Origin: "https://bedrock-runtime.eu-central-1.amazonaws.com",
		Path: "/model/eu.anthropic.claude-opus-5-5-v1%3A0/converse", ContentType: "application/json", Body: []byte(`{"messages":[]}`),
	}
}

// lines are the header lines as text, the signature cut off.
func lines(t *testing.T, s *sign.Scope, r *sign.Request, at time.Time) (all []string, signature string) {
	t.Helper()
	signed, err := s.Lines(r, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range signed {
		head, end, _ := strings.Cut(l.Value, "Signature=")
		if end != "" {
			signature = end
		}
		all = append(all, l.Name+": "+head)
	}
	return all, signature
}

func TestLines(t *testing.T) {
	got, signature := lines(t, scope(), request(), at)
	want := []string{
		"X-Amz-Date: 20261120T110000Z",
		"X-Amz-Content-Sha256: " + fmt.Sprintf("%x", sha256.Sum256(request().Body)),
		"X-Amz-Security-Token: token-1",
		"Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/eu-central-1/bedrock/aws4_request, " +
			"SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, ",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(signature) != 64 {
		t.Errorf("signature %q, %s", signature, diff)
	}
}

// The signature covers everything that a request is, and nothing else decides it.
func TestSignatureCovers(t *testing.T) {
	_, base := lines(t, scope(), request(), at)
	if _, again := lines(t, scope(), request(), at.UTC()); again != base {
		t.Error("the same request is signed otherwise another time")
	}
	changes := map[string]func(s *sign.Scope, r *sign.Request, at *time.Time){
		"method":       func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.Method = "PUT" },
		"host":         func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.Origin = "https://vpce.example:8443" },
		"path":         func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.Path += "-stream" },
		"escaping":     func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.Path = strings.Replace(r.Path, "%3A", ":", 1) },
		"query":        func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.Query = "a=b" },
		"content type": func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.ContentType = "" },
		"body":         func(_ *sign.Scope, r *sign.Request, _ *time.Time) { r.Body = []byte(`{"messages":[ ]}`) },
		"time":         func(_ *sign.Scope, _ *sign.Request, at *time.Time) { *at = at.Add(time.Second) },
		"access key":   func(s *sign.Scope, _ *sign.Request, _ *time.Time) { s.SecretKey = secret.New("another") },
		"token":        func(s *sign.Scope, _ *sign.Request, _ *time.Time) { s.SessionToken = secret.String{} },
		"region":       func(s *sign.Scope, _ *sign.Request, _ *time.Time) { s.Region = "us-east-1" },
		"service":      func(s *sign.Scope, _ *sign.Request, _ *time.Time) { s.Service = "bedrock-mantle" },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			s, r, when := scope(), request(), at
			change(s, r, &when)
			if _, got := lines(t, s, r, when); got == base {
				t.Error("the signature is the same")
			}
		})
	}
}

func TestNamesAreThoseOfLines(t *testing.T) {
	signed, err := scope().Lines(request(), at)
	if err != nil {
		t.Fatal(err)
	}
	if len(signed) != len(sign.Names) {
		t.Fatalf("%d lines and %d names", len(signed), len(sign.Names))
	}
	for _, l := range signed {
		if !strings.Contains(strings.Join(sign.Names, " "), strings.ToLower(l.Name)) {
			t.Errorf("%s is no name", l.Name)
		}
	}
}

func TestBadOriginTellsNoSecret(t *testing.T) {
	r := request()
	r.Origin = ":// no"
	_, err := scope().Lines(r, at)
	if text := fmt.Sprint(err, scope()); err == nil || strings.Contains(text, "wJalr") || strings.Contains(text, "token-1") {
		t.Errorf("%s", text)
	}
}
