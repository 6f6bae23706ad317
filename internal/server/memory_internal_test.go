//go:build linux

package server

import (
	"os"
	"path/filepath"
	"testing"

	"clank/internal/test/check"
)

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	machine := map[string]string{"proc/meminfo": "MemTotal: 8000 kB\nMemFree: 100 kB\nMemAvailable: 4000 kB\n"}
	const group = "sys/fs/cgroup/clank.slice/"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"machine", nil, 0.5},
		{"group without a limit", map[string]string{
			"proc/self/cgroup":      "0::/clank.slice/it\n",
			group + "it/memory.max": "max\n", group + "it/memory.current": "7\n",
		}, 0.5},
		{"group", map[string]string{
			"proc/self/cgroup": "0::/clank.slice/it\n", group + "it/memory.max": "1000\n", group + "it/memory.current": "900\n",
			group + "it/memory.stat": "anon 700\ninactive_file 150\n",
		}, 0.25},
		{"group above", map[string]string{
			"proc/self/cgroup": "0::/clank.slice/it\n", group + "memory.max": "1000\n",
			group + "memory.current": "900\n",
		}, 0.1},
		{"container", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n",
			"sys/fs/cgroup/memory.current": "800\n",
		}, 0.2},
	} {
		root := t.TempDir()
		for _, files := range []map[string]string{machine, tt.files} {
			for path, text := range files {
				path = filepath.Join(root, path)
				check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				check.Must(t, os.WriteFile(path, []byte(text), 0o600))
			}
		}
		if got, known := availableMemory(root); got != tt.want || !known {
			t.Errorf("%s: got %v, %t, want %v", tt.name, got, known, tt.want)
		}
	}
	if _, known := availableMemory(t.TempDir()); known {
		t.Error("a machine that tells nothing: known")
	}
}
