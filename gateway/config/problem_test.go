package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblems(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given given
		want  string
	}{
		// What is not as the file should be comes with the line.
		{"not YAML", given{file: "listen: \"127.0.0.1:1\nmode: on"}, `
warmpath.yaml:1:9: is not YAML: could not find end character of double-quoted text
    1 | listen: ***
      |         ^`},
		{"unknown key", given{file: "mode: on\nlisen: x"}, `
warmpath.yaml:2:1: lisen is not a setting; did you mean listen?
    2 | lisen: ***
      | ^`},
		{"unknown key like no other", given{file: "timeouts:\n  everything: 1s"}, `
warmpath.yaml:2:3: timeouts.everything is not a setting; write one of body, drain, header, heartbeat, idle, store, upstream_connect, upstream_header, upstream_idle, write
    2 |   everything: ***
      |   ^`},
		{"unknown keys of a provider", given{file: "providers:\n  openai:\n    api_key: x\n    baseurl: y"}, `
warmpath.yaml:3:5: providers.openai.api_key is not a setting; write one of abilities, access_key, base_url, bases, continue, dialects, endpoint, habits, key, key_style, label, missing_tools, mode, region, secret_key, session_token
    3 |     api_key: ***
      |     ^
warmpath.yaml:4:5: providers.openai.baseurl is not a setting; did you mean base_url?
    4 |     baseurl: ***
      |     ^`},
		{"duplicate key", given{file: "mode: on\nmode: off"}, `
warmpath.yaml:2:1: mode is already set in line 1; remove one of the two
    2 | mode: ***
      | ^`},
		{"duplicate provider", given{file: "providers:\n  openai: {label: a}\n  openai: {label: b}"}, `
warmpath.yaml:3:3: providers.openai is already set in line 2; remove one of the two
    3 |   openai: ***
      |   ^`},
		{"mapping for a scalar", given{file: "listen: {host: x}"}, `
warmpath.yaml:1:9: listen is a mapping; write a single value
    1 | listen: ***
      |         ^`},
		{"list for a scalar", given{file: "retries: [1]"}, `
warmpath.yaml:1:10: retries is a list; write a single value
    1 | retries: ***
      |          ^`},
		{"scalar for a list", given{file: "access_keys: one"}, `
warmpath.yaml:1:14: access_keys is a single value; write a list, like [a, b]
    1 | access_keys: ***
      |              ^`},
		{"mapping in a list", given{file: "access_keys:\n  - a: b"}, `
warmpath.yaml:2:6: access_keys[0] is a mapping; write a single value
    2 |   - a: ***
      |      ^`},
		{"scalar for a mapping", given{file: "limits: 5"}, `
warmpath.yaml:1:9: limits is a single value; write names and values, like name: value
    1 | limits: ***
      |         ^`},
		{"a list instead of the whole", given{file: "- listen: x"}, `
warmpath.yaml:1:1: is a list; write names and values, like name: value
    1 | - listen: ***
      | ^`},
		{"anchor", given{file: "mode: &m on"}, `
warmpath.yaml:1:7: mode uses an anchor, an alias or a tag; write the value itself
    1 | mode: ***
      |       ^`},
		{"merge", given{file: "limits: {<<: {body: 1MiB}}"}, `
warmpath.yaml:1:10: limits has a name that is not a plain word; write name: value
    1 | limits: ***
      |         ^`},
		{"two documents", given{file: "mode: on\n---\nmode: off"}, `
warmpath.yaml:3:5: has a second document; put everything into the first
    3 | mode: ***
      |     ^`},
		{"too large", given{file: strings.Repeat("# \n", 1<<19)}, `
warmpath.yaml: is larger than 1 MiB; this is not a configuration`},
		{"too deep", given{file: strings.Repeat("[", 101) + strings.Repeat("]", 101)}, `
warmpath.yaml: has far more brackets in brackets than any setting needs`},

		// What a setting cannot be comes with the place where it was given.
		{"mode", given{file: "mode: fast"}, `warmpath.yaml:1:1: mode is "fast"; write off, observe or on`},
		{"mode by variable", given{env: map[string]string{"WARMPATH_MODE": "fast"}}, `WARMPATH_MODE: mode is "fast"; write off, observe or on`},
		{"mode by flag", given{args: []string{"--mode=fast"}}, `--mode: mode is "fast"; write off, observe or on`},
		{"log", given{file: "log: {events: yes}"}, `warmpath.yaml:1:7: log.events is "yes"; write off, memory or disk`},
		{"log on a disk that is none", given{file: "log: {events: disk}\ndata: memory"}, `warmpath.yaml:1:7: log.events is disk, but there is no data folder; name one with data, or write memory`},
		{"log too small", given{file: "log: {size: 1KiB}"}, `warmpath.yaml:1:7: log.size is 1KiB; write a size from 1MiB to 1024GiB`},
		{"collector", given{file: "otlp: localhost:4318"}, `warmpath.yaml:1:1: otlp is not an address of a collector; write http://host:4318`},
		{"truth", given{file: "quiet: yes"}, `warmpath.yaml:1:1: quiet is "yes"; write true or false`},
		{"truth by flag", given{args: []string{"--quiet=1"}}, `--quiet: quiet is "1"; write true or false`},
		{"number", given{file: "retries: many"}, `warmpath.yaml:1:1: retries is "many"; write a whole number from 0 to 10`},
		{"number out of range", given{file: "limits: {connections: 0}"}, `warmpath.yaml:1:10: limits.connections is "0"; write a whole number from 1 to 1048576`},
		{"fraction", given{file: "retries: 1.5"}, `warmpath.yaml:1:1: retries is "1.5"; write a whole number from 0 to 10`},
		{"size", given{file: "limits:\n  body: 64megabytes"}, `warmpath.yaml:2:3: limits.body is "64megabytes", which is not a size; write bytes, or a unit like 64MiB, 8KiB or 1GiB`},
		{"size out of range", given{file: "limits: {headers: 2MiB, body: 2GiB}"}, `
warmpath.yaml:1:10: limits.headers is 2MiB; write a size from 1KiB to 1MiB
warmpath.yaml:1:25: limits.body is 2GiB; write a size from 1KiB to 1GiB`},
		{"auto where it means nothing", given{file: "limits: {body: auto}"}, `warmpath.yaml:1:10: limits.body is "auto", which is not a size; write bytes, or a unit like 64MiB, 8KiB or 1GiB`},
		{"time", given{file: "timeouts: {idle: 5}"}, `warmpath.yaml:1:12: timeouts.idle is "5", which is not a length of time; write it like 500ms, 10s or 1m30s`},
		{"no time", given{file: "timeouts: {idle: 0s}"}, `warmpath.yaml:1:12: timeouts.idle is 0s; write a time from more than 0s to 24h`},
		{"time out of range", given{file: "timeouts: {drain: -1s, heartbeat: 25h}"}, `
warmpath.yaml:1:12: timeouts.drain is -1s; write a time from 0s to 24h
warmpath.yaml:1:24: timeouts.heartbeat is 25h; write a time from 0s to 24h`},
		{"addresses", given{file: "listen: 8787", args: []string{"--admin", "127.0.0.1:http"}}, `
warmpath.yaml:1:1: listen is "8787"; write host:port, like 127.0.0.1:8787, with a port from 0 to 65535
--admin: admin is "127.0.0.1:http"; write host:port, like 127.0.0.1:8787, with a port from 0 to 65535`},
		{"long values are not repeated", given{file: "mode: long-enough-to-be-some-secret"}, `warmpath.yaml:1:1: mode is ***; write off, observe or on`},
		{"one address twice", given{file: "admin: 127.0.0.1:8787"}, `warmpath.yaml:1:1: admin is the same address as listen; give it a port of its own`},
		{"store that is no URL", given{file: "store: cache:6379"}, `warmpath.yaml:1:1: store is no URL of a Redis server; write redis://host:6379/0 or rediss://user:password@host:6379/0`},
		{"store with a faulty password", given{args: []string{"--store", "redis://u:se%cret@cache:6379"}}, `--store: store is no URL of a Redis server; write redis://host:6379/0 or rediss://user:password@host:6379/0`},
		{"admin for all without a token", given{file: "admin: :9464"}, `
admin_token is needed, because admin listens beyond this machine; set one, for example in WARMPATH_ADMIN_TOKEN, or let admin listen on 127.0.0.1`},
		{"admin for all with a faulty token", given{file: "admin: :9464\nadmin_token: env:NO_SUCH"}, `
warmpath.yaml:2:1: admin_token refers to the variable NO_SUCH, which is not set or empty; set it where warmpath is started`},
		{"no room for one body", given{file: "limits: {body: 2MiB, bodies_in_flight: 1MiB}"}, `
warmpath.yaml:1:22: limits.bodies_in_flight is 1MiB, less than one body may have (2MiB); raise it, or lower limits.body`},

		{"access keys", given{file: "access_keys: ['', 'a b', env:NO_SUCH, env:sk-secret, 'file:/no/such', $KEY, 'file:/tmp']"}, `
warmpath.yaml:1:15: access_keys[0] is empty; give a key, or remove it
warmpath.yaml:1:19: access_keys[1] holds white space or characters outside ASCII, which no header can carry; check that it was copied whole
warmpath.yaml:1:26: access_keys[2] refers to the variable NO_SUCH, which is not set or empty; set it where warmpath is started
warmpath.yaml:1:39: access_keys[3] refers to the variable ***, which is not set or empty; set it where warmpath is started
warmpath.yaml:1:54: access_keys[4] refers to a file that cannot be read: stat /no/such: no such file or directory
warmpath.yaml:1:71: access_keys[5] begins with $; to read a variable, write env: and its name
warmpath.yaml:1:77: access_keys[6] refers to /tmp, which is a folder or far too large for a secret`},
		{"access keys by variable", given{env: map[string]string{"WARMPATH_ACCESS_KEYS": "a,b c"}}, `
WARMPATH_ACCESS_KEYS: access_keys[1] holds white space or characters outside ASCII, which no header can carry; check that it was copied whole`},
		{"empty file", given{file: "admin_token: file:/dev/null"}, `warmpath.yaml:1:1: admin_token refers to /dev/null, which is empty`},
		{"key of a provider", given{file: "providers: {openai: {key: env:NO_SUCH}}"}, `
warmpath.yaml:1:22: providers.openai.key refers to the variable NO_SUCH, which is not set or empty; set it where warmpath is started`},

		// The catalog's own problems are tested there; here it is their place.
		{"provider", given{file: "providers:\n  lab:\n    dialects: [x]\n  openai:\n    base_url: ftp://x"}, `
warmpath.yaml:3:5: providers.lab.dialects has an unknown dialect "x"; write messages, chat, responses, gemini or converse
warmpath.yaml:5:5: providers.openai.base_url must begin with https:// or http://`},
		{"prices", given{file: "prices:\n  gpt-9:\n    input: 1,5\n    output: 2\n  lab/m: {output: 3}"}, `
warmpath.yaml:3:5: prices.gpt-9.input is "1,5"; write US dollars per million tokens, from 0 to 1000 with at most 6 decimals
warmpath.yaml:5:3: prices.lab/m.input is needed; write US dollars per million tokens`},
		{"what is missing is placed at its owner", given{file: "providers:\n  lab:\n    dialects: [chat]"}, `
warmpath.yaml:2:3: providers.lab.base_url is needed, because chat has no address in bases`},
		{"alias", given{file: "aliases:\n  a: b\n  b: a"}, `
warmpath.yaml:2:3: aliases.a leads back to an alias that it came from; name a model
warmpath.yaml:3:3: aliases.b leads back to an alias that it came from; name a model`},
		{"default", given{file: "defaults: {soap: openai}"}, `
warmpath.yaml:1:12: defaults.soap is not a dialect of clients; write opaque, messages, chat, responses or gemini`},
		{"upstream by flag", given{args: []string{"--upstream", "openai=me:hunter2@x", "--upstream", "hunter2"}}, `
--upstream: is not of the form PROVIDER=URL, like openai=http://127.0.0.1:9000/v1
--upstream: openai must begin with https:// or http://`},
		{"upstream by variable", given{env: map[string]string{"WARMPATH_UPSTREAM": "openai=http://x/?key=hunter2"}}, `
WARMPATH_UPSTREAM: openai must not hold a query or a fragment; give the address and path only`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.given.load(t)
			if _, ok := errors.AsType[Problems](err); !ok {
				t.Fatalf("got %v, want problems", err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, err := given{file: strings.Repeat("nothing: 1\n", 1000)}.load(t)
	if err == nil || strings.Count(err.Error(), "\n") > 200 || !strings.HasSuffix(err.Error(), "... and 950 more problems") {
		t.Errorf("got %v", err)
	}
}

// A file that is broken at any place must not show the secrets in it, however
// the damage is reported.
func TestErrorsLeakNoSecret(t *testing.T) {
	const secret = "Zq9-Zq9-Zq9"
	files := map[string]string{
		"block":  "admin_token: " + secret + "\nproviders:\n  openai:\n    key: " + secret + "\naccess_keys:\n  - " + secret + "\n  - " + secret + "\n",
		"flow":   "{admin_token: " + secret + ", access_keys: [" + secret + ", " + secret + "], providers: {openai: {key: " + secret + "}}}",
		"quoted": "admin_token: \"" + secret + "\"\nproviders:\n  openai: {key: '" + secret + "', label: x}\n",
		"folded": "admin_token: >\n  " + secret + "\n  " + secret + "\nproviders:\n  openai:\n    key: |\n      " + secret + "\n",
	}
	check := func(t *testing.T, file string) {
		t.Helper()
		_, err := given{file: file}.load(t)
		if err != nil && strings.Contains(err.Error(), "Zq9") {
			t.Errorf("the error for this file holds a part of the secret:\n%s\n---\n%v", file, err)
		}
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			for at := range len(file) + 1 {
				for _, damage := range []string{"\"", "'", "{", "]", ": ", " ", "\t", "\n", "&", "*", "!", "|", "%", "@", " #", ",", "- ", "? ", "$"} {
					check(t, file[:at]+damage+file[at:])
				}
				if at < len(file) {
					check(t, file[:at]+file[at+1:])
					check(t, file[:at])
				}
			}
		})
	}
}
