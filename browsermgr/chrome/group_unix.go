//go:build unix

package chrome

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// inheritPipe makes the child's ends of the pipe its descriptors 3 and 4, as --remote-debugging-pipe requires.
func inheritPipe(cmd *exec.Cmd, requests, answers *os.File) error {
	cmd.ExtraFiles = []*os.File{requests, answers}
	for _, f := range cmd.ExtraFiles {
		// Chromium uses blocking reads and writes and treats EAGAIN as the end of the pipe.
		if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
			return err
		}
	}
	return nil
}

// terminateGroup sends SIGTERM to each process of a group.
func terminateGroup(pgid int) error { return signalGroup(pgid, syscall.SIGTERM) }

// killGroup sends SIGKILL to each process of a group.
func killGroup(pgid int) error { return signalGroup(pgid, syscall.SIGKILL) }

// signalGroup sends a signal to each process of a group. A group that has ended is no error.
func signalGroup(pgid int, sig syscall.Signal) error {
	if err := syscall.Kill(-pgid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send signal %d (%s) to process group %d: %w", int(sig), sig, pgid, err)
	}
	return nil
}

// reapGroup reaps processes of a group that were reparented to us, because we are the init process of a container.
func reapGroup(pgid int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-pgid, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}

// describeExit returns how a process ended, such as "killed by signal 9" or "exited with status 1".
func describeExit(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Sprintf("killed by signal %d", int(ws.Signal()))
	}
	return fmt.Sprintf("exited with status %d", state.ExitCode())
}
