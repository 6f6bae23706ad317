package load

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Usage is the resource usage of processes.
type Usage struct {
	MB                       float64 // proportional set size
	CPU                      time.Duration
	Processes, Threads, Open int // Open is the number of file descriptors
}

// Tree returns a process and its descendants (on Linux), except the processes in but and their descendants.
func Tree(pid int, but ...int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if f := statFields(path); len(f) > 1 {
			parent, _ := strconv.Atoi(f[1])
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			children[parent] = append(children[parent], child)
		}
	}
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		for _, child := range children[list[i]] {
			if !slices.Contains(but, child) {
				list = append(list, child)
			}
		}
	}
	return list
}

// statFields returns the fields of a stat file after the name, which may contain anything: the first is the state.
func statFields(path string) []string {
	data, _ := os.ReadFile(path) // it may have ended
	return strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
}

// Measure adds up the usage of processes.
func Measure(pids []int) (u Usage) {
	const tick = 10 * time.Millisecond
	for _, pid := range pids {
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		f := statFields(filepath.Join(dir, "stat"))
		if len(f) < 18 {
			continue
		}
		number := func(i int) int {
			n, _ := strconv.Atoi(f[i])
			return n
		}
		open, _ := os.ReadDir(filepath.Join(dir, "fd"))
		u.Processes++
		u.CPU += time.Duration(number(11)+number(12)) * tick
		u.Threads += number(17)
		u.Open += len(open)
		u.MB += kilobytes(filepath.Join(dir, "smaps_rollup"), "Pss:") / 1024
	}
	return u
}

func kilobytes(path, field string) float64 {
	data, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(data), "\n"+field)
	if f := strings.Fields(rest); len(f) > 0 {
		n, _ := strconv.ParseFloat(f[0], 64)
		return n
	}
	return 0
}

// IdleTime returns the total idle time of all CPUs since the machine started.
func IdleTime() time.Duration {
	data, _ := os.ReadFile("/proc/stat")
	f := strings.Fields(string(data))
	if len(f) < 6 {
		return 0
	}
	idle, _ := strconv.Atoi(f[4])
	wait, _ := strconv.Atoi(f[5])
	return time.Duration(idle+wait) * 10 * time.Millisecond
}
