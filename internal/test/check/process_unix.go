//go:build unix

package check

import (
	"errors"
	"os/exec"
	"syscall"
)

// OwnGroup starts cmd in a process group of its own, so that [KillGroup] ends its descendants as well.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the process group of a command started with [OwnGroup].
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Suspend stops a process with SIGSTOP.
func Suspend(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// InGroup reports whether a process belongs to the group of another.
func InGroup(pid, leader int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group == leader
}

// IsRunning reports whether a process exists.
func IsRunning(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// MakePipe creates a named pipe.
func MakePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
