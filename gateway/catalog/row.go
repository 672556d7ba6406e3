package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

// Row is a provider as it is written in configuration. An empty field keeps
// what the embedded row of the same name says.
type Row struct {
	Label    string            `yaml:"label"`
	BaseURL  string            `yaml:"base_url"`
	Dialects []string          `yaml:"dialects"`
	Bases    map[string]string `yaml:"bases"`
	KeyStyle string            `yaml:"key_style"`
	Endpoint string            `yaml:"endpoint"`
	// Habits are how its Chat Completions differ from the inventor's.
	Habits []string `yaml:"habits"`
	// Region is where a cloud's endpoint stands. It takes the place of {region} in
	// the addresses.
	Region string `yaml:"region"`
	Mode   string `yaml:"-"`
	// Continue is on or off: whether replies that were cut off at their bound on
	// tokens are gone on with.
	Continue string `yaml:"-"`
	// MissingTools is refuse or leave_out: what becomes of a translated request with
	// a tool of the client's provider that this one has none like of.
	MissingTools string        `yaml:"-"`
	Key          secret.String `yaml:"-"`
	// AccessKey, SecretKey and SessionToken are what requests are signed with.
	AccessKey    secret.String `yaml:"-"`
	SecretKey    secret.String `yaml:"-"`
	SessionToken secret.String `yaml:"-"`
	// Abilities are those of its models where the embedded table is wrong or
	// silent: by model, then by the table's column.
	Abilities map[string]map[string]string `yaml:"-"`
}

// over lays a row over an embedded one. A new base_url moves the provider as a
// whole, so the embedded addresses of single dialects do not survive it.
func (r Row) over(embedded Row) Row {
	merged := Row{
		Label:    cmp.Or(r.Label, embedded.Label),
		BaseURL:  cmp.Or(r.BaseURL, embedded.BaseURL),
		Dialects: r.Dialects,
		Bases:    map[string]string{},
		KeyStyle: cmp.Or(r.KeyStyle, embedded.KeyStyle),
		Endpoint: cmp.Or(r.Endpoint, embedded.Endpoint),
		Habits:   r.Habits,
		Region:   cmp.Or(r.Region, embedded.Region),
		Mode:     r.Mode,
		Continue: r.Continue,

		MissingTools: r.MissingTools,
		Key:          r.Key,

		AccessKey: r.AccessKey, SecretKey: r.SecretKey, SessionToken: r.SessionToken,
		Abilities: r.Abilities,
	}
	if len(merged.Dialects) == 0 {
		merged.Dialects = embedded.Dialects
	}
	if r.Habits == nil {
		merged.Habits = embedded.Habits
	}
	if r.BaseURL != "" && r.Region == "" {
		// The embedded region is that of the embedded address.
		merged.Region = ""
	}
	for dialect, base := range embedded.Bases {
		// A dialect that the row gave up takes its address with it.
		kept := dialect == rewrite.Opaque.String() || slices.Contains(merged.Dialects, dialect)
		if r.BaseURL == "" && kept {
			merged.Bases[dialect] = base
		}
	}
	maps.Copy(merged.Bases, r.Bases)
	return merged
}

// moved gives every dialect of the row the same address.
func (r Row) moved(base string) Row {
	r.BaseURL, r.Bases = base, nil
	return r
}

// provider checks a complete row and compiles it.
func (r Row) provider(name string, report func(message string, path ...string)) *Provider {
	p := &Provider{
		Name:     name,
		Label:    r.Label,
		Endpoint: r.Endpoint,
		Bases:    map[rewrite.Dialect]*Base{},
		Key:      r.Key,
	}
	if p.Label == "" {
		p.Label = name
	}
	if p.Dialects = r.dialects(report); len(p.Dialects) > 0 {
		p.Native = p.Dialects[0]
		slices.Sort(p.Dialects)
	}
	p.Habits = r.habits(report)
	r.addresses(p, report)
	if p.Endpoint != "" && abilities()[p.Endpoint] == nil {
		report("is not a kind of endpoint; write anthropic, bedrock or google, or leave it out for one that is only compatible", "endpoint")
	}
	p.Mode = rewrite.ModeOn
	if r.Mode != "" {
		mode, ok := rewrite.ParseMode(r.Mode)
		if !ok {
			report("is not a mode; write "+alternatives(rewrite.Modes), "mode")
		}
		p.Mode = mode
	}
	switch r.MissingTools {
	case "leave_out":
		p.LeavesOut = true
	case "", "refuse":
	default:
		report("is "+quote(r.MissingTools)+"; write refuse or leave_out", "missing_tools")
	}
	switch r.Continue {
	case "on", "true":
		p.Continue = true
	case "", "off", "false":
	default:
		report("is "+quote(r.Continue)+"; write on or off", "continue")
	}
	p.Own = r.abilities(report)
	r.keys(p, report)
	return p
}

// keys finds out how requests say who they are from.
func (r Row) keys(p *Provider, report func(message string, path ...string)) {
	p.KeyStyle = KeyBearer
	if !r.AccessKey.IsZero() {
		p.KeyStyle = KeySigned
	} else if r.KeyStyle != "" {
		style, ok := ParseKeyStyle(r.KeyStyle)
		if !ok {
			report("is not a key style; write "+alternatives(KeyStyles), "key_style")
		}
		p.KeyStyle = style
	}
	if p.KeyStyle == KeyNone && !p.Key.IsZero() {
		report("is set, but the key style is none, so it would never be sent; set key_style too, for example bearer", "key")
	}
	r.signing(p, report)
}

// dialects reads the list; several may be wrong at once.
func (r Row) dialects(report func(message string, path ...string)) []rewrite.Dialect {
	if len(r.Dialects) == 0 {
		report("is needed for a new provider; list what it speaks: messages, chat, responses, gemini, converse", "dialects")
	}
	var spoken []rewrite.Dialect
	for _, name := range r.Dialects {
		d, ok := rewrite.ParseDialect(name)
		if !ok || d == rewrite.Opaque {
			report("has an unknown dialect "+quote(name)+"; write messages, chat, responses, gemini or converse", "dialects")
			continue
		}
		if !slices.Contains(spoken, d) {
			spoken = append(spoken, d)
		}
	}
	return spoken
}

// addresses fills p.Bases. Unread traffic goes to the main address, or to the
// first dialect's where there is none.
func (r Row) addresses(p *Provider, report func(message string, path ...string)) {
	var main *Base
	if r.BaseURL != "" {
		base, err := ParseBase(r.regional(r.BaseURL))
		if err != nil {
			report(err.Error(), "base_url")
			return
		}
		main = base
	}
	own := map[rewrite.Dialect]*Base{}
	for name, raw := range sorted(r.Bases) {
		d, ok := rewrite.ParseDialect(name)
		if !ok {
			report("is not a dialect; write messages, chat, responses, gemini, converse or opaque", "bases", name)
			continue
		}
		if d != rewrite.Opaque && !slices.Contains(p.Dialects, d) {
			report("is an address for a dialect that dialects does not list; add it there", "bases", name)
			continue
		}
		base, err := ParseBase(r.regional(raw))
		if err != nil {
			report(err.Error(), "bases", name)
			continue
		}
		own[d] = base
	}
	for _, d := range append([]rewrite.Dialect{rewrite.Opaque}, p.Dialects...) {
		base := own[d]
		if base == nil {
			base = main
		}
		if base == nil && d == rewrite.Opaque && len(p.Dialects) > 0 {
			base = own[p.Dialects[0]]
		}
		switch {
		case base != nil:
			p.Bases[d] = base
		case d != rewrite.Opaque && r.Bases[d.String()] == "":
			report("is needed, because "+d.String()+" has no address in bases", "base_url")
		}
	}
}

// alternatives joins the names of a closed set for a message.
func alternatives[T interface{ String() string }](set []T) string {
	names := make([]string, len(set))
	for i, v := range set {
		names[i] = v.String()
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
