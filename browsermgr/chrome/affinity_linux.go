package chrome

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// onOneProcessor restricts the calling thread, and processes it starts, to one processor until restore is called.
func onOneProcessor() (restore func()) {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return func() {}
	}
	for cpu := range 64 * len(all) {
		if all.IsSet(cpu) {
			one.Zero()
			one.Set(cpu) // the last one: others tend to take the first
		}
	}
	_ = unix.SchedSetaffinity(0, &one) // if it fails, the browser uses more threads
	return func() { _ = unix.SchedSetaffinity(0, &all) }
}

// UseAllProcessors lets a browser launched with [LaunchOptions.OneProcessor] run on all processors that this program
// may use.
func (p *Process) UseAllProcessors() {
	var all unix.CPUSet
	if unix.SchedGetaffinity(os.Getpid(), &all) != nil {
		return
	}
	for _, pid := range groupMembers(p.PID) {
		threads, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task")) // it may have ended
		for _, thread := range threads {
			if tid, err := strconv.Atoi(thread.Name()); err == nil {
				_ = unix.SchedSetaffinity(tid, &all)
			}
		}
	}
}
