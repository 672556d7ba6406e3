package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/gateway/secret"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const explained = `
listen: 0.0.0.0:8787
mode: observe
data: /srv/warmpath
access_keys: [env:ACCESS, hunter2]
admin_token: hunter2
limits: {bodies_in_flight: 1GiB, headers: 16KiB}
timeouts: {drain: 1m30s, heartbeat: 0s}
providers:
  anthropic: {key: hunter2}
  bedrock: {region: eu-central-1, access_key: hunter2a, secret_key: env:ACCESS, session_token: hunter2b}
  openai: {base_url: "http://127.0.0.1:9000", key: env:ACCESS, key_style: api-key}
  lab:
    label: The lab
    dialects: [chat, messages]
    mode: observe
    abilities: {small: {text: true, tools: reference, marks: automatic}, tiny: {}}
    bases: {chat: "https://lab.example.com/v1", messages: "https://lab.example.com/anthropic"}
aliases: {fast: claude-haiku-5-5, best: fast, local: lab/small}
defaults: {chat: lab}
mcp:
  files: {command: npx, args: [-y, server-files, /srv], env: {TOKEN: hunter2, PLAIN: env:ACCESS}, tools: [read_*, list], timeout: 90s}
  search: {url: "https://user:hunter2@mcp.example.com/mcp?key=hunter2", headers: {Authorization: Bearer env:ACCESS}, connect_timeout: 3s}
routes:
  "*": {audience: off}
  claude-*: {tools: {builtin: [tell_user], mcp: [files, search]}, events: off}
models: [gpt-7]
display:
  controls: visualise
  reasoning: 3
  inline_results: {truncate: {lines: 20}}
  style: {header: "on", hidden: false}
  errors: {inline_results: full}
  tools: {tell_user: {inline_results: {user: chat, assistant: 5}}, "mcp__*": {inline_results: off, style: {hidden: true}}}
prompts:
  expiry: 2m
  run: edit
  human_only: true
  detached: {all: defaults, run: auto}
  tools:
    mcp__files__*: {run: unattended, deliver: ask, detached: auto}
    mcp__web__fetch: {target: assistant, human_only: true, detached: {tool: defaults, deliver: deny}}
prices:
  lab/small: {output: 1.50, input: 0.25, read: "0", above: {tokens: 100000, output: 3, input: 0.5}, hosted: {web_search: 2.5}, terms: {fast: 2}}
  gpt-7: {input: 1, output: 2}
`

func TestExplain(t *testing.T) {
	c := given{file: explained, env: map[string]string{"ACCESS": "hunter2-from-env"}}.mustLoad(t)
	got, err := c.Explain()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "hunter2") {
		t.Error("a secret is shown")
	}
	path := filepath.Join("testdata", "explain.yaml")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// What is explained can be loaded, and means the same but for the secrets.
func TestExplainedLoadsTheSame(t *testing.T) {
	for name, file := range map[string]string{"defaults": "", "settings": explained} {
		t.Run(name, func(t *testing.T) {
			first := given{file: file, env: map[string]string{"ACCESS": "x"}}.mustLoad(t)
			text, err := first.Explain()
			if err != nil {
				t.Fatal(err)
			}
			second := given{file: string(text)}.mustLoad(t)
			again, err := second.Explain()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(again)); diff != "" {
				t.Error(diff)
			}
			ignored := cmpopts.IgnoreFields(Config{}, "Catalog", "AccessKeys", "AdminToken", "Store")
			set := cmp.Comparer(func(a, b secret.String) bool { return a.IsZero() == b.IsZero() })
			if diff := cmp.Diff(first, second, ignored, set); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(first.Catalog.Models(), second.Catalog.Models()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every setting of the file can be seen in what is explained.
func TestExplainIsComplete(t *testing.T) {
	text, err := given{}.mustLoad(t).Explain()
	if err != nil {
		t.Fatal(err)
	}
	l := &loader{}
	root := l.read(text)
	for name := range fileSchema.fields {
		if !strings.Contains("\n"+string(text), "\n"+name+":") {
			t.Errorf("%s is missing", name)
		}
	}
	for _, s := range settings {
		if root.at(strings.Split(s.key, ".")...) == nil {
			t.Errorf("%s is missing", s.key)
		}
	}
	if len(l.problems) > 0 {
		t.Error(l.problems)
	}
}
