//go:build unix

package check

import (
	"errors"
	"os/exec"
	"syscall"
)

// OwnGroup has a program that is started, and what it starts, be ended by [KillGroup].
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup ends a program of [OwnGroup] and what it has started.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Suspend has a process stand still.
func Suspend(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// InGroup reports whether a process belongs to the group of another.
func InGroup(pid, leader int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group == leader
}

// IsRunning reports whether there is a process with this id.
func IsRunning(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// MakePipe makes a named pipe.
func MakePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
