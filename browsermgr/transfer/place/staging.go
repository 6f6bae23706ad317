package place

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// stagingName is the directory in the downloads folder that Chromium writes to: it names the process that owns it.
var stagingName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.staging-(\d+)-`) })

// staleAfter is the age from which a staging directory whose process is gone is removed.
const staleAfter = time.Hour

// MakeStaging makes a private directory in the folder for files under way, and returns its path; the caller removes it. Those that killed processes left behind are removed.
func (f *Folder) MakeStaging() (string, error) {
	f.sweep(time.Now())
	dir, err := os.MkdirTemp(f.dir, fmt.Sprintf(".staging-%d-", os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a directory for downloads under way: %w", err)
	}
	return dir, nil
}

func (f *Folder) sweep(now time.Time) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return // what cannot be listed cannot be tidied; making the directory tells the reason
	}
	for _, e := range entries {
		m := stagingName().FindStringSubmatch(e.Name())
		info, err := e.Info()
		if m == nil || err != nil || !e.IsDir() || now.Sub(info.ModTime()) < staleAfter {
			continue
		}
		if pid, err := strconv.Atoi(m[1]); err == nil && !alive(pid) {
			_ = os.RemoveAll(filepath.Join(f.dir, e.Name()))
		}
	}
}
