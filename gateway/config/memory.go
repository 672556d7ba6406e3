package config

import (
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknownMemory stands for the machine's memory where it cannot be read.
const unknownMemory = 4 << 30

// quarterOfMemory is the default bound on all request bodies together: what is
// left has room for their rewritten copies, for streams and for the rest.
func quarterOfMemory() int64 {
	return memory(os.DirFS("/"), debug.SetMemoryLimit(-1)) / 4 &^ (1<<20 - 1)
}

// memory is the least of what the machine has, what the control group allows
// and what the runtime was told.
func memory(root fs.FS, runtimeLimit int64) int64 {
	least := int64(math.MaxInt64)
	for _, bytes := range []int64{
		machineMemory(root),
		// Inside a container the group's own files stand at the top.
		number(root, "sys/fs/cgroup/memory.max"),
		number(root, "sys/fs/cgroup/memory/memory.limit_in_bytes"),
		runtimeLimit,
	} {
		if bytes > 0 {
			least = min(least, bytes)
		}
	}
	// Without a limit the group says either a word or a number near the
	// largest; neither is a size of memory.
	if least > 1<<50 {
		return unknownMemory
	}
	return least
}

func machineMemory(root fs.FS) int64 {
	data, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(data)) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		return kib << 10
	}
	return 0
}

// number reads a file that holds one; zero where it does not.
func number(root fs.FS, name string) int64 {
	data, _ := fs.ReadFile(root, name)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n
}
