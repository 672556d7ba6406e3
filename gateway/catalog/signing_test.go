package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

func TestSigning(t *testing.T) {
	key, other := secret.New("key-1"), secret.New("key-2")
	for name, c := range map[string]struct {
		row             Row
		address         string
		service, region string
		style           KeyStyle
	}{
		"as it is":               {Row{}, "https://bedrock-runtime.us-east-1.amazonaws.com", "", "", KeyBearer},
		"a key":                  {Row{Key: key, Region: "eu-west-3"}, "https://bedrock-runtime.eu-west-3.amazonaws.com", "", "", KeyBearer},
		"signed":                 {Row{AccessKey: key, SecretKey: other, Region: "eu-west-3"}, "https://bedrock-runtime.eu-west-3.amazonaws.com", "bedrock", "eu-west-3", KeySigned},
		"signed, where it is":    {Row{AccessKey: key, SecretKey: other}, "https://bedrock-runtime.us-east-1.amazonaws.com", "bedrock", "us-east-1", KeySigned},
		"the region of the host": {Row{AccessKey: key, SecretKey: other, BaseURL: "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com"}, "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "bedrock", "us-gov-west-1", KeySigned},
		"a private address":      {Row{AccessKey: key, SecretKey: other, BaseURL: "https://vpce-1.bedrock-runtime.ap-south-2.vpce.amazonaws.com:8443"}, "https://vpce-1.bedrock-runtime.ap-south-2.vpce.amazonaws.com:8443", "bedrock", "ap-south-2", KeySigned},
		"another service":        {Row{AccessKey: key, SecretKey: other, BaseURL: "https://bedrock-mantle.eu-west-1.api.aws"}, "https://bedrock-mantle.eu-west-1.api.aws", "bedrock-mantle", "eu-west-1", KeySigned},
		"an address of its own":  {Row{AccessKey: key, SecretKey: other, BaseURL: "http://127.0.0.1:1", Region: "us-east-2"}, "http://127.0.0.1:1", "bedrock", "us-east-2", KeySigned},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := Build(Settings{Providers: map[string]Row{"bedrock": c.row}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			p, _ := s.Provider("bedrock")
			if got := p.Bases[rewrite.Converse].String(); got != c.address {
				t.Errorf("address %s, want %s", got, c.address)
			}
			if p.KeyStyle != c.style || p.Signing.Service != c.service || p.Signing.Region != c.region {
				t.Errorf("%s for %q in %q", p.KeyStyle, p.Signing.Service, p.Signing.Region)
			}
			if signed := c.style == KeySigned; p.HasKey() != (signed || !c.row.Key.IsZero()) || signed && p.Signing.SecretKey.Reveal() != "key-2" {
				t.Error("the keys are not those given")
			}
		})
	}
}

func TestSigningProblems(t *testing.T) {
	key := secret.New("key-1")
	for name, c := range map[string]struct {
		row  Row
		want []string
	}{
		"no access key":    {Row{KeyStyle: "sigv4"}, []string{"providers.bedrock.access_key is needed, because the key style is sigv4; set access_key and secret_key"}},
		"no secret key":    {Row{AccessKey: key}, []string{"providers.bedrock.secret_key is needed beside access_key; set it, for example to env:AWS_SECRET_ACCESS_KEY"}},
		"a secret key":     {Row{SecretKey: key}, []string{"providers.bedrock.secret_key is set without access_key, so it would never be used; set access_key too"}},
		"a session":        {Row{SessionToken: key}, []string{"providers.bedrock.session_token is set without access_key, so it would never be used; set access_key too"}},
		"two ways":         {Row{AccessKey: key, SecretKey: key, Key: key}, []string{"providers.bedrock.key is set beside access_key; a request is signed or has a key, so remove one of the two"}},
		"another style":    {Row{AccessKey: key, SecretKey: key, KeyStyle: "api-key"}, []string{"providers.bedrock.key_style is not sigv4, but there is an access_key; leave key_style out"}},
		"nobody knows":     {Row{AccessKey: key, SecretKey: key, BaseURL: "https://proxy.example"}, []string{"providers.bedrock.region is needed, because the address does not tell it; write it like eu-central-1"}},
		"no region at all": {Row{AccessKey: key, SecretKey: key, BaseURL: "https://bedrock-runtime.example.com"}, []string{"providers.bedrock.region is needed, because the address does not tell it; write it like eu-central-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := Build(Settings{Providers: map[string]Row{"bedrock": c.row}})
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
