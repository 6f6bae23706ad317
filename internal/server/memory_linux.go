package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// availableMemory returns the share of memory still available to programs: of the machine or, if lower, of the limits
// of this process's control groups (cgroup v2). root is the parent of /proc and /sys.
func availableMemory(root string) (share float64, known bool) {
	machine := memoryFields(filepath.Join(root, "proc/meminfo"))
	total, available := machine["MemTotal:"], machine["MemAvailable:"]
	if total == 0 {
		return 0, false
	}
	share = available / total
	line, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	_, group, found := strings.Cut(string(line), "0::")
	if !found {
		return share, true
	}
	top := filepath.Join(root, "sys/fs/cgroup")
	for dir := filepath.Join(top, strings.TrimSpace(group)); strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
		most, used := memoryNumber(dir, "memory.max"), memoryNumber(dir, "memory.current")
		if most > 0 {
			cache := memoryFields(filepath.Join(dir, "memory.stat"))["inactive_file"]
			share = min(share, (most-used+cache)/most)
		}
	}
	return share, true
}

// memoryNumber reads a file of a control group; "max" and unreadable files are 0.
func memoryNumber(dir, name string) float64 {
	data, _ := os.ReadFile(filepath.Join(dir, name))
	n, _ := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	return n
}

// memoryFields reads a file of names and numbers; nil if it does not exist.
func memoryFields(path string) map[string]float64 {
	data, _ := os.ReadFile(path)
	fields := map[string]float64{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 {
			fields[f[0]], _ = strconv.ParseFloat(f[1], 64)
		}
	}
	return fields
}
