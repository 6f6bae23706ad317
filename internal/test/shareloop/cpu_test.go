package shareloop_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// tickTime is the unit in which the kernel tells of processor time.
const tickTime = 10 * time.Millisecond

// spent returns the processor time that this process and those it has started have taken, but for the viewer's (node).
func spent(t *testing.T) time.Duration {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
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
	sum, queue := 0, []int{os.Getpid()}
	for len(queue) > 0 {
		sum += ticks[queue[0]]
		queue = append(queue[1:], children[queue[0]]...)
	}
	return time.Duration(sum) * tickTime
}

// meter measures processor time.
type meter struct {
	from time.Time
	used time.Duration
}

func begin(t *testing.T) meter {
	t.Helper()
	return meter{time.Now(), spent(t)}
}

// perMinute returns the processor time that a minute takes, in seconds.
func (m meter) perMinute(t *testing.T) float64 {
	t.Helper()
	return (spent(t) - m.used).Seconds() / time.Since(m.from).Minutes()
}
