package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"clank/internal/test/check"
)

// tickTime is the kernel's unit of CPU time.
const tickTime = 10 * time.Millisecond

// ProcessorTime returns the CPU time of this process and its descendants, except node, the processes in but, and
// their descendants.
func ProcessorTime(tb testing.TB, but ...int) time.Duration {
	tb.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	check.Must(tb, err)
	children, ticks := map[int][]int{}, map[int]int{}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		name := data[bytes.IndexByte(data, '(')+1 : bytes.LastIndexByte(data, ')')]
		f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if string(name) == "node" || len(f) < 13 {
			continue
		}
		number := func(field []byte) int {
			n, _ := strconv.Atoi(string(field))
			return n
		}
		pid := number([]byte(filepath.Base(filepath.Dir(path))))
		children[number(f[1])] = append(children[number(f[1])], pid)
		ticks[pid] = number(f[11]) + number(f[12])
	}
	sum := 0
	for queue := []int{os.Getpid()}; len(queue) > 0; {
		pid := queue[0]
		queue = queue[1:]
		if !slices.Contains(but, pid) {
			sum += ticks[pid]
			queue = append(queue, children[pid]...)
		}
	}
	return time.Duration(sum) * tickTime
}
