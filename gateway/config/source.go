package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"warmpath/gateway/secret"
)

// Sources is where a configuration comes from. It can be loaded again and
// again; file, environment and referenced secrets are read anew each time.
type Sources struct {
	// File is the path of the configuration file. If it is empty the variable
	// WARMPATH_CONFIG names it, and without that there is none.
	File string

	lookup    func(string) (string, bool)
	flags     map[string]string
	upstreams []string
}

// NewSources takes the environment from lookup, which is os.LookupEnv outside
// of tests.
func NewSources(lookup func(name string) (value string, ok bool)) *Sources {
	return &Sources{lookup: lookup, flags: map[string]string{}}
}

// Bind adds the flags to a set. What they are given is checked by Load, with
// everything else.
func (s *Sources) Bind(set *flag.FlagSet) {
	set.StringVar(&s.File, "config", "", "configuration `file` in YAML (WARMPATH_CONFIG)")
	for _, setting := range settings {
		if setting.flag == "" {
			continue
		}
		usage := setting.help + " (" + setting.env
		if setting.initial != "" && setting.initial != "false" {
			usage += ", default " + setting.initial
		}
		usage += ")"
		keep := func(text string) error {
			s.flags[setting.key] = text
			return nil
		}
		if _, ok := setting.field(&Config{}).(truth); ok {
			set.BoolFunc(setting.flag, usage, keep)
			continue
		}
		set.Func(setting.flag, usage, keep)
	}
	set.Func("upstream", "`PROVIDER=URL`: address of a provider for all its dialects; may be repeated (WARMPATH_UPSTREAM, separated by commas)",
		func(text string) error {
			s.upstreams = append(s.upstreams, text)
			return nil
		})
}

// variable reads the environment; a variable that is set to nothing is not
// set, because that is how compose files and unit files leave one out.
func (s *Sources) variable(name string) string {
	if name == "" {
		return ""
	}
	text, _ := s.lookup(name)
	return text
}

// origin is one written value and where it stands: "--listen",
// "WARMPATH_LISTEN" or a place in the file; empty for a default.
type origin struct {
	text  string
	where string
	place place
	// folder is where a relative file: reference starts from.
	folder string
}

// pick finds a setting's value by precedence: flag, environment, file,
// default.
func (l *loader) pick(s setting) (o origin, ok bool) {
	if text, ok := l.sources.flags[s.key]; ok {
		return origin{text: text, where: "--" + s.flag}, true
	}
	if text := l.sources.variable(s.env); text != "" {
		return origin{text: text, where: s.env}, true
	}
	if e := l.root.at(strings.Split(s.key, ".")...); e != nil {
		return l.inFile(e), true
	}
	return origin{text: s.initial}, s.initial != ""
}

func (l *loader) inFile(e *entry) origin {
	return origin{text: e.text, where: l.where(e.place), place: e.place, folder: filepath.Dir(l.name)}
}

// addresses merges the addresses that the environment and the flags give to
// providers; of two for one provider the later wins, flags after environment.
func (l *loader) addresses() map[string]string {
	merged := map[string]string{}
	add := func(text, where string) {
		name, base, ok := strings.Cut(strings.TrimSpace(text), "=")
		if !ok || name == "" || base == "" {
			// The text is not repeated: it may be an address with a password.
			l.problem(origin{where: where}, "", "is not of the form PROVIDER=URL, like openai=http://127.0.0.1:9000/v1")
			return
		}
		merged[name], l.moved[name] = base, where
	}
	if text := l.sources.variable("WARMPATH_UPSTREAM"); text != "" {
		for part := range strings.SplitSeq(text, ",") {
			if strings.TrimSpace(part) != "" {
				add(part, "WARMPATH_UPSTREAM")
			}
		}
	}
	for _, text := range l.sources.upstreams {
		add(text, "--upstream")
	}
	return merged
}

// fetch follows a reference to a secret: env:NAME or file:PATH; anything else
// is the secret itself. Its error never holds what it found.
func (l *loader) fetch(o origin) (string, error) {
	if name, ok := strings.CutPrefix(o.text, "env:"); ok {
		value, _ := l.sources.lookup(name)
		if value = strings.TrimSpace(value); value == "" {
			if !variableName.MatchString(name) {
				name = secret.Mask
			}
			return "", fmt.Errorf("refers to the variable %s, which is not set or empty; set it where warmpath is started", name)
		}
		return value, nil
	}
	if path, ok := strings.CutPrefix(o.text, "file:"); ok {
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.folder, path)
		}
		return readSecret(path)
	}
	if strings.HasPrefix(o.text, "$") {
		return "", errors.New("begins with $; to read a variable, write env: and its name")
	}
	return o.text, nil
}

// variableName is what the name of a variable looks like, and a key that was
// put in its place does not.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)

func readSecret(path string) (string, error) {
	const longest = 64 << 10
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || info.Size() > longest) {
		return "", fmt.Errorf("refers to %s, which is a folder or far too large for a secret", path)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("refers to a file that cannot be read: %w", err)
	}
	value := strings.TrimSpace(string(data))
	if value == "" {
		return "", fmt.Errorf("refers to %s, which is empty", path)
	}
	return value, nil
}
