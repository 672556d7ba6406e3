package config

import (
	"fmt"
	"reflect"

	"github.com/goccy/go-yaml"

	"warmpath/gateway/secret"
)

// elsewhere are the settings that say where a gateway is and what it writes, not what
// it does to a request.
var elsewhere = []string{"listen", "admin", "data", "store", "quiet", "events", "otlp", "display"}

// Changes writes what differs from the defaults in what the configuration makes of
// requests, as YAML that can be loaded again; it is empty where nothing does. Each
// secret is written as hide has it. Where the gateway listens, and where it keeps and
// writes things, is left out; a log of conversations is one of memory.
func (c *Config) Changes(hide func(secret string) string) ([]byte, error) {
	initial, err := Load(NewSources(func(string) (string, bool) { return "", false }))
	if err != nil {
		return nil, fmt.Errorf("loading the defaults: %w", err)
	}
	own := *c
	if own.Log.Events == KeptOnDisk {
		own.Log.Events = KeptInMemory
	}
	show := func(s secret.String) string {
		if s.IsZero() {
			return ""
		}
		return hide(s.Reveal())
	}
	top := changes(own.document(show), initial.document(show), 3)
	if !own.AdminToken.IsZero() {
		top = set(top, "admin_token", show(own.AdminToken))
	}
	for _, name := range elsewhere {
		top = without(top, name)
	}
	if len(top) == 0 {
		return nil, nil
	}
	return encode(top)
}

// changes are the items of a map that another one lacks, or has with other values, as
// deep as sections are laid over each other when they are loaded.
func changes(own, initial yaml.MapSlice, deep int) (out yaml.MapSlice) {
	for _, entry := range own {
		was, found := find(initial, entry.Key)
		// Another address leaves the region of the old one behind.
		if found && reflect.DeepEqual(was, entry.Value) && (entry.Key != "region" || same(own, initial, "base_url")) {
			continue
		}
		below, nested := entry.Value.(yaml.MapSlice)
		above, both := was.(yaml.MapSlice)
		if nested && len(below) == 0 {
			continue
		}
		if nested && both && deep > 1 && entry.Key != "prices" {
			entry.Value = changes(below, above, deep-1)
		}
		out = append(out, entry)
	}
	// A provider whose habits were taken has none.
	if _, had := find(initial, "habits"); had {
		if _, has := find(own, "habits"); !has && len(own) > 0 {
			out = append(out, item("habits", []string{}))
		}
	}
	return out
}

func find(in yaml.MapSlice, key any) (value any, ok bool) {
	for _, entry := range in {
		if entry.Key == key {
			return entry.Value, true
		}
	}
	return nil, false
}

// same reports whether two maps have the same value under a key.
func same(own, initial yaml.MapSlice, key string) bool {
	a, _ := find(own, key)
	b, _ := find(initial, key)
	return reflect.DeepEqual(a, b)
}

func set(in yaml.MapSlice, key string, value any) yaml.MapSlice {
	return append(without(in, key), item(key, value))
}

func without(in yaml.MapSlice, key string) (out yaml.MapSlice) {
	for _, entry := range in {
		if entry.Key != key {
			out = append(out, entry)
		}
	}
	return out
}
