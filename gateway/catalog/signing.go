package catalog

import (
	"strings"

	"warmpath/gateway/secret"
)

// Signing is what requests to Amazon's cloud are signed with.
type Signing struct {
	AccessKey, SecretKey, SessionToken secret.String
	Service, Region                    string
}

// regional puts the region into an address.
func (r Row) regional(address string) string {
	return strings.ReplaceAll(address, "{region}", r.Region)
}

// signing checks what requests are signed with.
func (r Row) signing(p *Provider, report func(message string, path ...string)) {
	p.Region = r.Region
	if p.KeyStyle != KeySigned {
		for _, c := range []struct {
			name  string
			value secret.String
		}{{"secret_key", r.SecretKey}, {"session_token", r.SessionToken}} {
			if !c.value.IsZero() {
				report("is set without access_key, so it would never be used; set access_key too", c.name)
			}
		}
		return
	}
	switch {
	case !r.Key.IsZero():
		report("is set beside access_key; a request is signed or has a key, so remove one of the two", "key")
	case r.KeyStyle != "" && r.KeyStyle != KeySigned.String() && r.KeyStyle != KeyBearer.String():
		report("is not sigv4, but there is an access_key; leave key_style out", "key_style")
	case r.AccessKey.IsZero():
		report("is needed, because the key style is sigv4; set access_key and secret_key", "access_key")
	case r.SecretKey.IsZero():
		report("is needed beside access_key; set it, for example to env:AWS_SECRET_ACCESS_KEY", "secret_key")
	}
	p.Signing = Signing{r.AccessKey, r.SecretKey, r.SessionToken, "bedrock", r.Region}
	for _, d := range p.Dialects {
		if base := p.Bases[d]; base != nil {
			service, region := awsHost(base.Host)
			if service != "" {
				p.Signing.Service = service
			}
			if p.Signing.Region == "" {
				p.Signing.Region = region
			}
		}
	}
	if p.Signing.Region == "" {
		report("is needed, because the address does not tell it; write it like eu-central-1", "region")
	}
}

// awsHost reads service and region from the name of one of Amazon's hosts:
// bedrock-runtime.eu-central-1.amazonaws.com. Both are empty for other hosts.
func awsHost(host string) (service, region string) {
	host, _, _ = strings.Cut(host, ":")
	labels := strings.Split(host, ".")
	for i, label := range labels[:max(len(labels)-1, 0)] {
		switch strings.TrimSuffix(label, "-fips") {
		case "bedrock-runtime", "bedrock":
			return "bedrock", regionOf(labels[i+1])
		case "bedrock-mantle":
			return "bedrock-mantle", regionOf(labels[i+1])
		}
	}
	return "", ""
}

// regionOf is a label that is the name of a region: it ends in a number.
func regionOf(label string) string {
	if at := strings.LastIndexByte(label, '-'); at > 0 && len(label) > at+1 && strings.Trim(label[at+1:], "0123456789") == "" {
		return label
	}
	return ""
}
