package files

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// stagingPattern is the directory in the downloads folder that Chromium writes to: it names the process that owns it.
var stagingPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.staging-(\d+)-`) })

// stagingMaxAge is the age from which a staging directory whose process is gone is removed.
const stagingMaxAge = time.Hour

// MakeStaging makes a private directory in the folder for files under way, and returns its path; the caller removes it. Those that killed processes left behind are removed.
func (f *Folder) MakeStaging() (string, error) {
	f.removeStale(time.Now())
	dir, err := os.MkdirTemp(f.dir, fmt.Sprintf(".staging-%d-", os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a directory for downloads under way: %w", err)
	}
	return dir, nil
}

func (f *Folder) removeStale(now time.Time) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return // what cannot be listed cannot be tidied; making the directory tells the reason
	}
	for _, e := range entries {
		m := stagingPattern().FindStringSubmatch(e.Name())
		info, err := e.Info()
		if m == nil || err != nil || !e.IsDir() || now.Sub(info.ModTime()) < stagingMaxAge {
			continue
		}
		if pid, err := strconv.Atoi(m[1]); err == nil && !processAlive(pid) {
			_ = os.RemoveAll(filepath.Join(f.dir, e.Name()))
		}
	}
}
