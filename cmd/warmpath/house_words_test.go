package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	keys = regexp.MustCompile(`sk-ant-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,}|AIza[0-9A-Za-z_-]{30,}|AKIA[0-9A-Z]{16}`)
	// A build must not depend on where somebody's registry was.
	registries = regexp.MustCompile(`(?i)https?://[a-z0-9.-]*(?:npm|golang|debian)[a-z0-9.-]*`)
)

// Expressions over the whole tree are slow; a line that has none of these need
// not be searched.
var (
	keyStarts = []string{"sk-", "AIza", "AKIA"}
	urlStarts = []string{"://"}
)

// elsewhere are folders that exist on one machine only. They are put together
// here so that this file does not name them.
var elsewhere = []string{"/" + "work/", "/" + "farm/", `"/` + "root/", " /" + "root/"}

func holds(line string, parts []string) bool {
	return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(line, s) })
}

// eachLine yields the text files of the whole tree, tests and nested modules
// included, line by line.
func eachLine(t *testing.T, yield func(path string, number int, line string)) {
	t.Helper()
	for _, rel := range load(t).files {
		text, err := os.ReadFile(filepath.Join(root, rel))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			yield(rel, n, line)
		}
	}
}

func TestHouseNoKeys(t *testing.T) {
	eachLine(t, func(path string, number int, line string) {
		if holds(line, keyStarts) && keys.MatchString(line) {
			t.Errorf("%s:%d has what looks like a real key: use an obviously made-up one that no scanner takes for a key", path, number)
		}
	})
}

func TestHouseNoForeignPlaces(t *testing.T) {
	eachLine(t, func(path string, number int, line string) {
		if path == "go.sum" {
			return
		}
		if holds(line, urlStarts) {
			for _, host := range registries.FindAllString(line, -1) {
				if !strings.HasSuffix(host, "://www.debian.org") {
					t.Errorf("%s:%d names a package registry (%s): the tools know theirs", path, number, host)
				}
			}
		}
		if holds(line, elsewhere) {
			t.Errorf("%s:%d names a path outside the project: it exists on one machine only", path, number)
		}
	})
}

// The rules above must find what they are for; the samples are put together
// here so that this file does not break them itself.
func TestHouseWordsAreFound(t *testing.T) {
	for _, s := range []string{"sk-" + "ant-api03-abcdefghijklmnopqrst", "sk-" + strings.Repeat("a1", 16), "AI" + "za" + strings.Repeat("x", 32), "AK" + "IA" + strings.Repeat("A", 16)} {
		if !holds(s, keyStarts) || !keys.MatchString(s) {
			t.Errorf("keys does not match %q", s)
		}
	}
	for _, s := range []string{"sk-test", "sk-ant-test", "risk-assessment-of-something-longer-than-thirty-two"} {
		if keys.MatchString(s) {
			t.Errorf("keys matches %q", s)
		}
	}
	if s := "http" + "://registry.npmjs.org"; !holds(s, urlStarts) || !registries.MatchString(s) {
		t.Errorf("registries does not match %q", s)
	}
	if s := "see /" + "work/main"; !holds(s, elsewhere) {
		t.Errorf("elsewhere does not match %q", s)
	}
}

func TestHouseChangelog(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	tr := load(t)
	beside := []string{"ci", "make", "readme"} // What changes outside any package.
	entry := regexp.MustCompile(`^- ([a-z0-9/]+): \S.*`)
	entries := 0
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case !strings.HasPrefix(line, "- "):
			continue
		case !entry.MatchString(line):
			t.Errorf("CHANGELOG.md:%d: %q, want \"- room: what changed\"", i+1, line)
		default:
			entries++
			if room := entry.FindStringSubmatch(line)[1]; !slices.Contains(tr.folders, room) && !slices.Contains(beside, room) {
				t.Errorf("CHANGELOG.md:%d: there is no room %q", i+1, room)
			}
		}
	}
	if entries == 0 {
		t.Error("CHANGELOG.md has no entry")
	}
}
