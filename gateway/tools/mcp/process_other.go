//go:build !unix

package mcp

import "os/exec"

func ownGroup(*exec.Cmd) {}

// endGroup ends a process by force: there are no signals to ask it with.
func endGroup(cmd *exec.Cmd, _ bool) { _ = cmd.Process.Kill() }
