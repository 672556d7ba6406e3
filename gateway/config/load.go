package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"warmpath/gateway/catalog"
	"warmpath/gateway/secret"
)

// loader is the state of one Load.
type loader struct {
	reader
	sources *Sources
	root    *entry
	// moved says where the address of a provider came from, if not from the
	// file.
	moved map[string]string
}

// Load reads and checks the configuration. The error holds all faults, as
// Problems, unless the file cannot be read at all.
func Load(s *Sources) (*Config, error) {
	l := &loader{sources: s, moved: map[string]string{}}
	data, err := l.open()
	if err != nil {
		return nil, err
	}
	return l.load(data)
}

func (l *loader) load(data []byte) (*Config, error) {
	l.root = l.read(data)
	c := &Config{}
	for _, s := range settings {
		l.set(c, s)
	}
	l.data(c)
	c.AccessKeys = l.accessKeys()
	c.Catalog = l.catalog()
	c.Display = l.display()
	c.Prompts.Policies = l.prompts()
	c.MCP = l.servers(c.Tools.Timeout)
	l.check(c)
	if len(l.problems) > 0 {
		l.problems.sort()
		return nil, l.problems
	}
	c.Warnings = warnings(c)
	return c, nil
}

func (l *loader) set(c *Config, s setting) {
	o, ok := l.pick(s)
	if !ok {
		return
	}
	if s.secret {
		text, err := l.fetch(o)
		if err != nil {
			l.problem(o, s.key, err.Error())
			return
		}
		o.text = text
	}
	if err := s.field(c).parse(o.text); err != nil {
		l.problem(o, s.key, err.Error())
	}
}

func (l *loader) problem(o origin, key, message string) {
	l.problems = append(l.problems, Problem{Where: o.where, Key: key, Message: message, place: o.place})
}

// data fills the folder in: the default is the user's own, and in a container
// without a home there is none.
func (l *loader) data(c *Config) {
	home, xdg := l.sources.variable("HOME"), l.sources.variable("XDG_DATA_HOME")
	rest, tilde := strings.CutPrefix(c.Data, "~/")
	switch {
	case tilde && home != "":
		c.Data = filepath.Join(home, rest)
	case c.Data != "":
	case filepath.IsAbs(xdg):
		c.Data = filepath.Join(xdg, "warmpath")
	case filepath.IsAbs(home):
		c.Data = filepath.Join(home, ".local", "share", "warmpath")
	default:
		c.Data = DataMemory
	}
}

// accessKeys reads the list, or the variable that replaces it.
func (l *loader) accessKeys() []secret.String {
	var origins []origin
	if text := l.sources.variable("WARMPATH_ACCESS_KEYS"); text != "" {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				origins = append(origins, origin{text: part, where: "WARMPATH_ACCESS_KEYS"})
			}
		}
	} else if list := l.root.at("access_keys"); list != nil {
		for _, item := range list.items {
			origins = append(origins, l.inFile(item))
		}
	}
	var keys []secret.String
	for i, o := range origins {
		if key := l.secret(o, fmt.Sprintf("access_keys[%d]", i)); !key.IsZero() {
			keys = append(keys, key)
		}
	}
	return keys
}

// secret fetches one and checks it; a fault is reported and gives none.
func (l *loader) secret(o origin, key string) (s secret.String) {
	text, err := l.fetch(o)
	if err == nil && text == "" {
		err = errors.New("is empty; give a key, or remove it")
	}
	if err == nil {
		err = credential{&s}.parse(text)
	}
	if err != nil {
		l.problem(o, key, err.Error())
	}
	return s
}

func (l *loader) catalog() *catalog.Snapshot {
	given := catalog.Settings{
		Providers: map[string]catalog.Row{},
		Addresses: l.addresses(),
		Aliases:   map[string]string{},
		Fallbacks: map[string][]string{},
		Defaults:  l.texts("defaults"),
		Models:    l.list("models"),
		Prices:    l.prices(),
		Routes:    l.routes(),
	}
	if aliases := l.root.at("aliases"); aliases != nil {
		for name := range aliases.children {
			targets := append(l.list("aliases", name), "")
			if given.Aliases[name] = targets[0]; len(targets) > 2 {
				given.Fallbacks[name] = targets[1 : len(targets)-1]
			}
		}
	}
	if providers := l.root.at("providers"); providers != nil {
		names := make([]string, 0, len(providers.children))
		for name := range providers.children {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			given.Providers[name] = l.row(name)
		}
	}
	snapshot, problems := catalog.Build(given)
	for _, p := range problems {
		l.fault(p)
	}
	return snapshot
}

// prices reads what models cost, by their names.
func (l *loader) prices() map[string]catalog.PriceRow {
	rows := map[string]catalog.PriceRow{}
	if prices := l.root.at("prices"); prices != nil {
		for name := range prices.children {
			row := catalog.PriceRow{
				Tokens: l.texts("prices", name), Above: l.texts("prices", name, "above"),
				Hosted: l.texts("prices", name, "hosted"), Terms: l.texts("prices", name, "terms"),
			}
			for _, section := range []string{"above", "hosted", "terms"} {
				delete(row.Tokens, section)
			}
			rows[name] = row
		}
	}
	return rows
}

// routes reads what is done for models besides.
func (l *loader) routes() map[string]catalog.RouteRow {
	rows := map[string]catalog.RouteRow{}
	if routes := l.root.at("routes"); routes != nil {
		for pattern := range routes.children {
			words := l.texts("routes", pattern)
			rows[pattern] = catalog.RouteRow{
				Builtin:  l.list("routes", pattern, "tools", "builtin"),
				MCP:      l.list("routes", pattern, "tools", "mcp"),
				Audience: words["audience"], Events: words["events"],
			}
		}
	}
	return rows
}

func (l *loader) row(name string) catalog.Row {
	text := func(field string) string {
		if e := l.root.at("providers", name, field); e != nil {
			return e.text
		}
		return ""
	}
	row := catalog.Row{
		Label:    text("label"),
		BaseURL:  text("base_url"),
		Dialects: l.list("providers", name, "dialects"),
		Habits:   l.list("providers", name, "habits"),
		Bases:    l.texts("providers", name, "bases"),
		KeyStyle: text("key_style"),
		Endpoint: text("endpoint"),
		Region:   text("region"),
		Mode:     text("mode"),
		Continue: text("continue"),

		MissingTools: text("missing_tools"),

		Abilities: map[string]map[string]string{},
	}
	if able := l.root.at("providers", name, "abilities"); able != nil {
		for model := range able.children {
			row.Abilities[model] = l.texts("providers", name, "abilities", model)
		}
	}
	for field, secret := range map[string]*secret.String{
		"key": &row.Key, "access_key": &row.AccessKey, "secret_key": &row.SecretKey, "session_token": &row.SessionToken,
	} {
		if e := l.root.at("providers", name, field); e != nil {
			*secret = l.secret(l.inFile(e), "providers."+name+"."+field)
		}
	}
	return row
}

// fault places a problem that the catalog found: in the file, or at the flag
// or variable that moved the provider.
func (l *loader) fault(p catalog.Problem) {
	if len(p.Path) == 2 && p.Path[0] == "upstream" {
		l.problem(origin{where: l.moved[p.Path[1]]}, p.Path[1], p.Message)
		return
	}
	var o origin
	if at := l.root.nearest(p.Path); at.line > 0 {
		o = origin{where: l.where(at), place: at}
	}
	l.problem(o, strings.Join(p.Path, "."), p.Message)
}

func (l *loader) texts(path ...string) map[string]string {
	texts := map[string]string{}
	if e := l.root.at(path...); e != nil {
		for name, child := range e.children {
			texts[name] = child.text
		}
	}
	return texts
}

func (l *loader) list(path ...string) []string {
	var list []string
	if e := l.root.at(path...); e != nil {
		for _, item := range e.items {
			list = append(list, item.text)
		}
	}
	return list
}
