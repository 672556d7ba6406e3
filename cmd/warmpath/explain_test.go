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
	tests := map[string]struct {
		args   []string
		code   int
		golden string
	}{
		"edited":           {[]string{older, newer}, exitOK, "edited.txt"},
		"edited, for tool": {[]string{"--json", older, newer}, exitOK, "edited.json"},
		"the same twice":   {[]string{older, older}, exitOK, "same.txt"},
		"one file":         {[]string{older}, exitUsage, "one.txt"},
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
