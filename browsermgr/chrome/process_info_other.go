//go:build unix && !linux

package chrome

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// inspectProcess returns false if there is no such process.
func inspectProcess(pid int) (processInfo, bool) {
	out, err := runSystemTool(context.Background(), "ps", "-o", "pgid=,stat=,lstart=,command=", "-p", strconv.Itoa(pid))
	if err != nil {
		return processInfo{}, false
	}
	// 4711 S Sat Nov 21 05:24:29 2026 /Applications/… --flag
	f := strings.Fields(out)
	if len(f) < 8 {
		return processInfo{}, false
	}
	pgid, err := strconv.Atoi(f[0])
	if err != nil {
		return processInfo{}, false
	}
	return processInfo{
		pid: pid, pgid: pgid, zombie: strings.HasPrefix(f[1], "Z"), start: strings.Join(f[2:7], " "), args: f[7:],
	}, true
}

// groupMembers lists the running processes of a group, without zombies.
func groupMembers(pgid int) []int {
	out, err := runSystemTool(context.Background(), "ps", "-axo", "pid=,pgid=,stat=")
	if err != nil {
		return nil
	}
	var pids []int
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != strconv.Itoa(pgid) || strings.HasPrefix(f[2], "Z") {
			continue
		}
		if pid, err := strconv.Atoi(f[0]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// UsedCPU returns true: CPU times are not read on this system.
func (*Process) UsedCPU() bool { return true }

// cpuTime returns the time since the start: CPU times are not read here.
func (p *Process) cpuTime() time.Duration { return time.Since(p.StartedAt) }

// MemoryMB returns 0: private memory is not known on this system.
func MemoryMB(int) int { return 0 }

// portOwner returns the process that listens on a TCP port of this machine; 0 if unknown, such as for lack of
// permission.
func portOwner(port int) int {
	out, err := runSystemTool(context.Background(), "lsof", "-nP", "-t", "-sTCP:LISTEN", fmt.Sprintf("-iTCP:%d", port))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(out, "\n")
	pid, _ := strconv.Atoi(first) // 0 if malformed
	return pid
}
