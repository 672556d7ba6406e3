package config

import (
	"testing"
	"testing/fstest"
	"time"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1024": 1024, "1B": 1, "1kB": 1000, "1KB": 1000, "1KiB": 1024, "64MiB": 64 << 20, "64 MiB": 64 << 20,
		"2MB": 2e6, "3GB": 3e9, "1GiB": 1 << 30, "8589934591GiB": 8589934591 << 30,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "1M", "1mib", "1 Mi B", "8589934592GiB", "99999999999999999999", "1MiB "} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	for n, want := range map[int64]string{
		0: "0", 1: "1B", 1000: "1000B", 1024: "1KiB", 1536: "1536B", 1 << 20: "1MiB", 64 << 20: "64MiB", 1 << 40: "1024GiB",
	} {
		got := formatSize(n)
		if got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
		if back, err := parseSize(got); err != nil || back != n {
			t.Errorf("%s: reads back as %d, %v", got, back, err)
		}
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 90 * time.Second: "1m30s", time.Minute: "1m", 10 * time.Minute: "10m", time.Hour: "1h",
		time.Hour + time.Second: "1h0m1s", 24 * time.Hour: "24h", 500 * time.Millisecond: "500ms",
	} {
		got := formatSpan(d)
		if got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
		if back, err := time.ParseDuration(got); err != nil || back != d {
			t.Errorf("%s: reads back as %v, %v", got, back, err)
		}
	}
}

func TestMemory(t *testing.T) {
	const unlimited = 1<<63 - 1
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := file("MemFree:  1 kB\nMemTotal:       2048 kB\nMemAvailable: 3 kB\n")
	for _, tc := range []struct {
		name    string
		root    fstest.MapFS
		runtime int64
		want    int64
	}{
		{"machine", fstest.MapFS{"proc/meminfo": machine}, unlimited, 2 << 20},
		{"group", fstest.MapFS{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": file("1048576\n")}, unlimited, 1 << 20},
		{"group without limit", fstest.MapFS{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": file("max\n")}, unlimited, 2 << 20},
		{"old group", fstest.MapFS{
			"proc/meminfo": machine, "sys/fs/cgroup/memory/memory.limit_in_bytes": file("524288\n"),
		}, unlimited, 512 << 10},
		{"old group without limit", fstest.MapFS{
			"proc/meminfo": machine, "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, unlimited, 2 << 20},
		{"runtime", fstest.MapFS{"proc/meminfo": machine}, 4096, 4096},
		{"nothing known", fstest.MapFS{}, unlimited, unknownMemory},
		{"nonsense", fstest.MapFS{"proc/meminfo": file("MemTotal: x\n")}, unlimited, unknownMemory},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := memory(tc.root, tc.runtime); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
