package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is the version of the module, or of the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

// versionOf names a build: its version if it has one, and the commit, with a
// mark if the tree had changes that are in no commit.
func versionOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{info.Main.Version}
	if parts[0] == "" || parts[0] == "(devel)" {
		parts[0] = "devel"
	}
	if revision := settings["vcs.revision"]; revision != "" {
		parts = append(parts, "commit "+revision[:min(len(revision), 12)])
		if when := settings["vcs.time"]; when != "" {
			parts = append(parts, "of "+when)
		}
		if settings["vcs.modified"] == "true" {
			parts = append(parts, "with changes")
		}
	}
	return strings.Join(parts, " ")
}

func printVersion(stdout io.Writer) int {
	fmt.Fprintf(stdout, "warmpath %s\n%s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}
