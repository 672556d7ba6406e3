package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	folder := filepath.Join("testdata", "explain")
	older, newer := filepath.Join(folder, "older.json"), filepath.Join(folder, "newer.json")
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{"model":`), 0o600); err != nil {
		t.Fatal(err)
	}
	chat := filepath.Join(folder, "chat.json")
	tests := map[string]struct {
		args   []string
		code   int
		golden string
	}{
		"edited":           {[]string{older, newer}, exitOK, "edited.txt"},
		"edited, for tool": {[]string{"--json", older, newer}, exitOK, "edited.json"},
		"the same twice":   {[]string{older, older}, exitOK, "same.txt"},
		"another dialect":  {[]string{chat, chat}, exitUsage, "chat.txt"},
		"no file":          {nil, exitUsage, "one.txt"},
		"no such file":     {[]string{older, filepath.Join(folder, "none.json")}, exitFailure, "none.txt"},
		"no JSON":          {[]string{older, broken}, exitFailure, "broken.txt"},
		"no request":       {[]string{older, "testdata/sound.yaml"}, exitFailure, "yaml.txt"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(append([]string{"explain"}, test.args...), &stdout, &stderr); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if (stdout.Len() > 0) != (test.code == exitOK) {
				t.Errorf("stdout is %q", &stdout)
			}
			got := strings.ReplaceAll(stdout.String()+stderr.String(), filepath.Dir(broken), "")
			golden(t, filepath.Join("explain", test.golden), got)
		})
	}
}

// TestExplainBreaks explains requests of which the prefix cannot stay, or not for
// every model.
func TestExplainBreaks(t *testing.T) {
	folder := filepath.Join("testdata", "explain")
	read := func(file [3]string) string {
		name, old, new := file[0], file[1], file[2]
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.ReplaceAll(string(text), old, new)
		if old != "" && changed == string(text) {
			t.Fatalf("%s has no %s", name, old)
		}
		written := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(written, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		return written
	}
	const model, other = `"claude-opus-5"`, `"claude-sonnet-4-6"`
	const made, theirs = "01AbCdEf23456789XyZ1234", "read_1"
	older, newer := [3]string{"older.json"}, [3]string{"newer.json"}
	tests := map[string]struct {
		older, newer [3]string // a file, and what is replaced in it by what
		golden       string
	}{
		"another model":           {older, [3]string{"newer.json", model, other}, "model.txt"},
		"a model that takes less": {[3]string{"older.json", model, other}, [3]string{"newer.json", model, other}, "unable.txt"},
		"an edited history":       {older, [3]string{"older.json", "hello", "hullo"}, "history.txt"},
		"a reply edited":          {older, [3]string{"newer.json", `{"path":"a"}`, `{"path":"b"}`}, "reply.txt"},
		"a first request":         {older, [3]string{"first.json"}, "first.txt"},
		"another role":            {older, [3]string{"newer.json", `You are careful.\nToday is 2026-11-30.\nBe brief.`, "Name this conversation in five words."}, "role.txt"},
		"nothing proves it":       {[3]string{"older.json", made, theirs}, [3]string{"newer.json", made, theirs}, "unproven.txt"},
		"an edited history, too":  {[3]string{"older.json", "hello", "hullo"}, newer, "all.txt"},
		"a parameter":             {older, [3]string{"older.json", `"max_tokens":10`, `"max_tokens":10,"tool_choice":{"type":"none"}`}, "params.txt"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := []string{"explain", read(test.older), read(test.newer)}
			if code := run(args, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
				t.Errorf("exit code %d, %s", code, &stderr)
			}
			golden(t, filepath.Join("explain", test.golden), stdout.String())
		})
	}
}

func TestDialectOf(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"messages":                {`{"model":"claude-opus-5","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, "Messages"},
		"messages, another model": {`{"model":"kimi-k2","max_tokens":1,"system":"s","messages":[],"tools":[{"type":"custom","name":"a"}]}`, "Messages"},
		"chat by the model":       {`{"model":"gpt-5","messages":[{"role":"user","content":"x"}]}`, "Chat Completions"},
		"messages to be counted":  {`{"model":"claude-opus-5","messages":[{"role":"user","content":"x"}]}`, "Messages"},
		"messages, unknown model": {`{"model":"mine","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, "Messages"},
		"chat, by the model too":  {`{"model":"gpt-4o","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, "Chat Completions"},
		"chat by a tool":          {`{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"a"}}]}`, "Chat Completions"},
		"chat by a role":          {`{"model":"m","messages":[{"role":"tool","content":"x"}]}`, "Chat Completions"},
		"chat by a call":          {`{"model":"m","messages":[{"role":"assistant","tool_calls":[]}]}`, "Chat Completions"},
		"chat by a member":        {`{"model":"m","messages":[],"stream_options":{}}`, "Chat Completions"},
		"responses":               {`{"model":"gpt-5","input":"x"}`, "Responses"},
		"responses, tools":        {`{"model":"gpt-5","tools":[{"type":"function","name":"a"}],"input":[]}`, "Responses"},
		"responses, tools behind": {`{"model":"gpt-5","input":[],"tools":[{"type":"function","name":"a"}]}`, "Responses"},
		"gemini":                  {`{"contents":[],"tools":[]}`, "Gemini"},
	} {
		if got := dialectOf([]byte(c.body)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
