package chrome

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// programOfPID names the program of a process, or "".
func programOfPID(pid int) string {
	p, ok := inspectProcess(pid)
	if !ok || len(p.args) == 0 || p.args[0] == "" {
		return ""
	}
	program, _, _ := strings.Cut(p.args[0], " ")
	return filepath.Base(program)
}

// runsOn reports whether a browser's main process was started with this user data directory.
func (p processInfo) runsOn(dir string) bool {
	line := " " + strings.Join(p.args, " ") + " "
	return strings.Contains(line, " --user-data-dir="+dir+" ") && !strings.Contains(line, " --type=")
}

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

// cutLast cuts around the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
