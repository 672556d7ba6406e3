//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the leader of a group: what it starts ends with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks a process and all that it has started to end, or ends them by force.
func endGroup(cmd *exec.Cmd, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, signal) // the group may be gone
}
