package chrome

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// inspectProcess returns false if there is no such process.
func inspectProcess(pid int) (processInfo, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	fields := readStat(filepath.Join(dir, "stat"))
	if len(fields) < 20 {
		return processInfo{}, false
	}
	pgid, err := strconv.Atoi(fields[2])
	if err != nil {
		return processInfo{}, false
	}
	p := processInfo{pid: pid, pgid: pgid, zombie: fields[0] == "Z" || fields[0] == "X", start: fields[19]}
	// Chromium rewrites the command line of its children as one string with spaces.
	if cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil {
		p.args = strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
	}
	return p, true
}

// UsedCPU reports whether the browser has used CPU time since the last call, or a thread of its processes is runnable
// or waits for a disk. It is true if that is unknown.
func (p *Process) UsedCPU() bool {
	fields := readStat(filepath.Join("/proc", strconv.Itoa(p.PID), "stat"))
	if len(fields) < 13 {
		return true
	}
	if used := fields[11] + " " + fields[12]; p.used.Swap(used) != used {
		return true
	}
	var ran time.Duration
	for _, pid := range groupMembers(p.PID) {
		threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*"))
		if err != nil {
			return true
		}
		for _, thread := range threads {
			if fields := readStat(filepath.Join(thread, "stat")); len(fields) > 0 && (fields[0] == "R" || fields[0] == "D") {
				return true
			}
			if pid == p.PID {
				ran += schedTime(thread)
			}
		}
	}
	// Less than a tick is not in the CPU times. A process that starts others on a busy machine rarely gets more at once.
	return (ran - time.Duration(p.ran.Swap(int64(ran)))).Abs() >= time.Millisecond
}

// schedTime returns how long a thread has run or waited for a processor (proc/<pid>/schedstat in the kernel's
// Documentation/scheduler/sched-stats.rst); 0 if the kernel does not count that.
func schedTime(thread string) time.Duration {
	var running, waiting time.Duration
	data, err := os.ReadFile(filepath.Join(thread, "schedstat"))
	if err == nil {
		_, err = fmt.Sscan(string(data), &running, &waiting)
	}
	if err != nil {
		return 0
	}
	return running + waiting
}

// cpuTime returns the CPU time that the browser's main process has used.
func (p *Process) cpuTime() time.Duration {
	fields := readStat(filepath.Join("/proc", strconv.Itoa(p.PID), "stat"))
	if len(fields) < 13 {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ, which is 100 on all of Go's systems
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// readStat returns the fields of a stat file of proc(5) from the state on; nil if it cannot be read.
func readStat(path string) []string {
	stat, _ := os.ReadFile(path) // a process that has ended has none
	// pid (name) state ppid pgrp …; the name may contain anything, so parse from the last parenthesis.
	_, rest, _ := cutLast(string(stat), ") ")
	return strings.Fields(rest)
}

// groupMembers lists the running processes of a group, without zombies.
func groupMembers(pgid int) []int {
	var pids []int
	for _, pid := range allPIDs() {
		if p, ok := inspectProcess(pid); ok && p.pgid == pgid && !p.zombie {
			pids = append(pids, pid)
		}
	}
	return pids
}

// MemoryMB returns approximately the private memory of a browser's processes, in MiB.
func MemoryMB(pgid int) int {
	pages := 0
	for _, pid := range groupMembers(pgid) {
		var size, resident, shared int
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
		if err == nil {
			_, err = fmt.Sscan(string(data), &size, &resident, &shared)
		}
		if err == nil {
			pages += resident - shared
		}
	}
	return pages * os.Getpagesize() >> 20
}

func allPIDs() []int {
	entries, _ := os.ReadDir("/proc") // on error, use what was read
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// portOwner returns the process that listens on a TCP port of this machine; 0 if unknown, such as for lack of
// permission.
func portOwner(port int) int {
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for inode := range listenerInodes(string(data), port) {
			inodes["socket:["+inode+"]"] = true
		}
	}
	if len(inodes) == 0 {
		return 0
	}
	for _, pid := range allPIDs() {
		fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if link, err := os.Readlink(fd); err == nil && inodes[link] {
				return pid
			}
		}
	}
	return 0
}

// listenerInodes returns the inodes of the sockets that listen on the port.
func listenerInodes(table string, port int) map[string]bool {
	const listening = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	found := map[string]bool{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 9 && f[3] == listening && strings.HasSuffix(f[1], suffix) {
			found[f[9]] = true
		}
	}
	return found
}
