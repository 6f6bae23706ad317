//go:build unix

package chrome

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// inheritPipe has the child find its ends of the pipe as its descriptors 3 and 4, as --remote-debugging-pipe wants it.
func inheritPipe(cmd *exec.Cmd, requests, answers *os.File) error {
	cmd.ExtraFiles = []*os.File{requests, answers}
	for _, f := range cmd.ExtraFiles {
		// Chromium's threads wait in read and write; they take "try again" for the end.
		if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
			return err
		}
	}
	return nil
}

// askGroupToEnd lets each process of a group end in order (SIGTERM).
func askGroupToEnd(pgid int) error { return signalGroup(pgid, syscall.SIGTERM) }

// killGroup ends each process of a group at once (SIGKILL).
func killGroup(pgid int) error { return signalGroup(pgid, syscall.SIGKILL) }

// signalGroup sends a signal to each process of a group. A group that is gone is no error.
func signalGroup(pgid int, sig syscall.Signal) error {
	if err := syscall.Kill(-pgid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send signal %d (%s) to process group %d: %w", int(sig), sig, pgid, err)
	}
	return nil
}

// collectGroup reaps processes of a group that have become ours because their parent died and we are the init of a
// container. Elsewhere there are none.
func collectGroup(pgid int) {
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

// describeExit says how a process ended: "killed by signal 9", "exited with status 1".
func describeExit(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Sprintf("killed by signal %d", int(ws.Signal()))
	}
	return fmt.Sprintf("exited with status %d", state.ExitCode())
}
