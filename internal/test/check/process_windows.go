package check

import (
	"errors"
	"os"
	"os/exec"
)

// OwnGroup does nothing on Windows.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills only the process itself on Windows.
func KillGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// Suspend is not supported on Windows.
func Suspend(int) error { return errors.ErrUnsupported }

// InGroup is not supported on Windows.
func InGroup(int, int) bool { return false }

// IsRunning reports whether a process exists.
func IsRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}

// MakePipe is not supported on Windows.
func MakePipe(string) error { return errors.ErrUnsupported }
