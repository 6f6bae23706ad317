//go:build linux && !tetherwatch

package chrome

import (
	"os/exec"
	"syscall"
)

// tether ties the life of a child to this program with PR_SET_PDEATHSIG (prctl(2)). The kernel sends the signal when
// the thread that started the child ends, so one locked OS thread must start the child and wait for it. The children of
// Chromium's main process end with it, since they hold a channel to it.
type tether struct{}

func newTether(cmd *exec.Cmd) *tether {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return &tether{}
}

func (*tether) attach(int) error { return nil }

func (*tether) release() {}
