package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"nothing", nil, exitUsage, "", "warmpath serve "},
		{"help", []string{"help"}, exitOK, "warmpath serve ", ""},
		{"help flag", []string{"--help"}, exitOK, "warmpath serve ", ""},
		{"help of serve", []string{"help", "serve"}, exitOK, "WARMPATH_LISTEN, default 127.0.0.1:8787", ""},
		{"serve with help flag", []string{"serve", "-h"}, exitOK, "WARMPATH_LISTEN", ""},
		{"help of check", []string{"help", "check"}, exitOK, "warmpath check [flags] [FILE]", ""},
		{"help of version", []string{"help", "version"}, exitOK, "print the version", ""},
		{"help of nothing known", []string{"help", "fly"}, exitUsage, "", `there is no command "fly"`},
		{"unknown command", []string{"fly"}, exitUsage, "", `there is no command "fly"`},
		{"version", []string{"version"}, exitOK, "warmpath ", ""},
		{"version flag", []string{"--version"}, exitOK, "go1.", ""},
		{"unknown flag", []string{"serve", "--fly"}, exitUsage, "", "flag provided but not defined: -fly; see warmpath help serve"},
		{"argument of serve", []string{"serve", "fly"}, exitUsage, "", `takes no "fly"`},
		{"argument of demo", []string{"demo", "fly"}, exitUsage, "", `takes no "fly"`},
		{"two files to check", []string{"check", "a", "b"}, exitUsage, "", "takes one FILE"},
		{"no such file to check", []string{"check", "/no/such.yaml"}, exitFailure, "", "/no/such.yaml"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(tc.args, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, out := range []struct {
				name      string
				got, want string
			}{{"stdout", stdout.String(), tc.stdout}, {"stderr", stderr.String(), tc.stderr}} {
				if (out.want == "") != (out.got == "") || !strings.Contains(out.got, out.want) {
					t.Errorf("%s is %q, want %q in it", out.name, out.got, out.want)
				}
			}
		})
	}
}

// Every command of the overview has help of its own.
func TestHelpKnowsEveryCommand(t *testing.T) {
	for _, c := range commands {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"help", c.name}, &stdout, &stderr); code != exitOK || stdout.Len() == 0 || stderr.Len() > 0 {
			t.Errorf("%s: code %d, %q, %q", c.name, code, &stdout, &stderr)
		}
	}
}

// clearVariables keeps the tester's own settings out of a test.
func clearVariables(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "WARMPATH_") {
			t.Setenv(name, "")
		}
	}
}

// golden compares with a file, one for each case.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestCheck(t *testing.T) {
	clearVariables(t)
	t.Setenv("CHECK_KEY", "hunter2-of-the-environment")
	for _, name := range []string{"sound", "faulty", "broken"} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run([]string{"check", "--mode=observe", filepath.Join("testdata", name+".yaml")}, &stdout, &stderr)
			if wrong := name != "sound"; (code == exitFailure) != wrong || (stdout.Len() == 0) != wrong {
				t.Errorf("exit code %d, stdout %q", code, &stdout)
			}
			all := stdout.String() + stderr.String()
			if strings.Contains(all, "hunter2") {
				t.Error("a secret is shown")
			}
			golden(t, name+".golden", strings.ReplaceAll(all, "testdata"+string(filepath.Separator), ""))
		})
	}
}

func TestVersion(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	commit := []debug.BuildSetting{setting("vcs.revision", "0123456789abcdef0123"), setting("vcs.time", "2026-11-29T12:00:00Z")}
	for _, tc := range []struct {
		name, version string
		settings      []debug.BuildSetting
		want          string
	}{
		{"release", "v1.2.3", nil, "v1.2.3"},
		{"development", "(devel)", nil, "devel"},
		{"no version", "", nil, "devel"},
		{"commit", "(devel)", commit, "devel commit 0123456789ab of 2026-11-29T12:00:00Z"},
		{"changes", "v1.2.3", append(commit, setting("vcs.modified", "true")), "v1.2.3 commit 0123456789ab of 2026-11-29T12:00:00Z with changes"},
		{"short revision", "v1.2.3", []debug.BuildSetting{setting("vcs.revision", "012")}, "v1.2.3 commit 012"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			info := &debug.BuildInfo{Main: debug.Module{Version: tc.version}, Settings: tc.settings}
			if got := versionOf(info); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestBanner(t *testing.T) {
	cfg := &config.Config{Mode: rewrite.ModeOn, Data: "/var/lib/warmpath", AccessKeys: []secret.String{secret.New("hunter2")}}
	var out bytes.Buffer
	printBanner(&out, cfg, "0.0.0.0:8787", "127.0.0.1:9464")
	golden(t, "banner.golden", strings.Replace(out.String(), version(), "VERSION", 1))

	// A store of several gateways takes the place of the folder.
	for url, want := range map[string]string{
		"redis://user:hunter2@cache:6379/1":    "redis://cache:6379/1",
		"rediss://:hunter2@cache":              "rediss://cache:6379/0",
		"unix://user:hunter2@/run/redis?db=1":  "unix:///run/redis",
		"redis://cache:6379?password=hunter2 ": "",
	} {
		cfg.Store = secret.New(url)
		out.Reset()
		printBanner(&out, cfg, "0.0.0.0:8787", "127.0.0.1:9464")
		if got := out.String(); !strings.Contains(got, "\n  store    "+want+"\n") || strings.Contains(got, "hunter2") || strings.Contains(got, cfg.Data) {
			t.Errorf("%s is told of as\n%s", strings.ReplaceAll(url, "hunter2", "***"), got)
		}
	}
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:1": "127.0.0.1:1", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "127.0.0.1:1", ":1": "127.0.0.1:1",
		"[::1]:1": "[::1]:1", "10.0.0.1:1": "10.0.0.1:1", "example.com:1": "example.com:1",
	} {
		if got := reachable(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
