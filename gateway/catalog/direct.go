package catalog

import "warmpath/rewrite"

// Direct is the target of a request whose path names the provider. The model
// decides nothing and keeps its name, and a dialect that the provider is not
// known to speak goes to its plain address: nothing a vendor adds is out of
// reach. The error is a *rewrite.Failure.
func (s *Snapshot) Direct(name string, d rewrite.Dialect, model string) (Target, error) {
	p, ok := s.Provider(name)
	if !ok {
		return Target{}, &rewrite.Failure{Reason: rewrite.ReasonNotFound,
			Message: "No provider is called " + quote(name) + ". Add it under providers in the configuration, or put another in the path."}
	}
	base := p.Bases[d]
	if base == nil {
		base = p.Bases[rewrite.Opaque]
	}
	return Target{Provider: p, Base: base, Dialect: d, Model: model}, nil
}

// Origin is the scheme and authority that requests are sent to.
func (b *Base) Origin() string {
	if b.TLS {
		return "https://" + b.Host
	}
	return "http://" + b.Host
}
