package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"clank/internal/test/check"
)

// processes returns those of the browser that has this process id, by part of their command line.
func processes(tb testing.TB, browser int, part string) (pids []int) {
	tb.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check.Must(tb, err)
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if line, _ := os.ReadFile(file); bytes.Contains(line, []byte(part)) && check.InGroup(pid, browser) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// KillNetwork ends the network process of the browser that has this process id.
func KillNetwork(tb testing.TB, browser int) {
	tb.Helper()
	found := processes(tb, browser, "network.mojom")
	if len(found) != 1 {
		tb.Fatalf("the browser has %d network processes, want 1", len(found))
	}
	check.Must(tb, check.Kill(found[0]))
}

// RunsScripts reports whether a page of the browser that has this process id computes, or would if a processor were
// free.
func RunsScripts(tb testing.TB, browser int) bool {
	tb.Helper()
	for _, pid := range processes(tb, browser, "--type=renderer") {
		id := strconv.Itoa(pid)
		stat, _ := os.ReadFile(filepath.Join("/proc", id, "task", id, "stat")) // of the main thread
		if _, rest, _ := bytes.Cut(stat, []byte(") ")); bytes.HasPrefix(rest, []byte("R")) {
			return true
		}
	}
	return false
}
