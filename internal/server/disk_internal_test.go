package server

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/sessions"
)

func TestOldFilesMakeRoom(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tt := range []struct {
		name   string
		limits DiskLimits
		room   int64 // that a file of the server wants
		want   string
	}{
		{"no limits", DiskLimits{}, 1000, "a b c d new one run said two"},
		{"too old", DiskLimits{Age: 35 * time.Hour}, 0, "a b c new run"}, // so is what a killed process was writing
		{"too much", DiskLimits{Total: 5500}, 0, "a b c d new"},
		{"too much with what comes", DiskLimits{Total: 5500}, 1000, "a b c new"},
		{"too much, and all that is left is new", DiskLimits{Total: 1}, 0, "new"},
		{"too much of one server", DiskLimits{Place: 1800}, 0, "a b c d new one said two"},
		{"too much of one server with what comes", DiskLimits{Place: 1800}, 900, "a b c d new said two"},
		{"enough of one server", DiskLimits{Place: 2800}, 0, "a b c d new one run said two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".clank") // as homes are called
			for i, path := range []string{
				"downloads/new", "pictures/a", "traces/b", "lent/c", "downloads/d", "uploads/kept",
				"downloads/.staging-1/way", "inbound/sess@server-1/id/two", "films/film@server-1/one",
				"transcripts/said", "runs/task/run.jsonl", "runs/busy/run.jsonl",
			} {
				size, at := 900, now.Add(-time.Duration(i)*10*time.Hour)
				text := make([]byte, size)
				if strings.HasPrefix(path, "runs") {
					const begun = `{"kind":"begin","begin":{"task":{"origin":{"kind":"discord","guild":"1"}}}}` + "\n"
					copy(text, begun)
				}
				path = filepath.Join(dir, path)
				check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				check.Must(t, os.WriteFile(path, text, 0o600))
				check.Must(t, os.Chtimes(path, at, at))
			}
			k := &diskLimiter{
				Dir: dir, Limits: func() DiskLimits { return tt.limits }, Logger: slog.New(slog.DiscardHandler),
				Free:    func(string) (int64, error) { return 1 << 40, nil },
				Running: func(task string) bool { return task == "busy" },
			}
			k.makeRoom(now, "server-1", tt.room)
			left := []string{}
			_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() && !strings.Contains(path, "busy") {
					left = append(left, strings.Replace(filepath.Base(path), "run.jsonl", "run", 1))
				}
				return err
			})
			slices.Sort(left)
			want := append(strings.Fields(tt.want), "kept")
			if tt.limits.Age == 0 {
				want = append(want, "way")
			}
			slices.Sort(want)
			if !slices.Equal(left, want) {
				t.Errorf("got %q, want %q", left, want)
			}
			sent, err := os.ReadDir(filepath.Join(dir, inboundFolder))
			if got := len(sent) > 0; err != nil || got != slices.Contains(want, "two") {
				t.Errorf("the folder of received files has %v, %v", sent, err)
			}
		})
	}
}

func TestFilesOfTasksCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	free := int64(100)
	k := &diskLimiter{
		Dir: t.TempDir(), Limits: func() DiskLimits { return DiskLimits{Total: 50, Place: 30, Task: 20, Free: 40} },
		Logger: slog.New(slog.DiscardHandler), Free: func(string) (int64, error) { return free, nil },
	}
	for _, tt := range []struct {
		task  string
		place sessions.Place
		size  int64
		free  int64
		want  string
	}{
		{"a", "", 15, 100, ""},
		{"a", "", 6, 100, "Files of one task"},
		{"b", "server-1", 20, 100, ""},
		{"c", "server-1", 11, 100, ""}, // what was counted is not there any more
		{"d", "server-1", 31, 100, "Files of one place"},
		{"", "", 20, 100, ""},
		{"c", "", 5, 39, "Free disk space"},
		{"c", "", 51, 100, "Files in all"},
	} {
		free = tt.free
		err := k.Keep(tt.task, tt.place, tt.size)
		if tt.want == "" {
			check.Must(t, err)
			continue
		}
		check.Fails(t, err, sessions.ErrNoRoom, tt.want)
	}
	for task := range k.tasks {
		k.ForgetTask(task)
	}
	free = 100
	if err := k.Room("a", "", 6); err != nil || len(k.tasks) > 0 {
		t.Errorf("after their sessions were closed, %v is counted: %v", k.tasks, err)
	}
	for free, want := range map[int64]string{80: "", 79: "nearly full", 40: "nearly full", 39: "is full"} {
		got := diskWarning(k.Limits(), func(string) (int64, error) { return free, nil }, "")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d free: %q, want %q", free, got, want)
		}
	}
}

func TestReadinessSaysThatNothingCanBeKept(t *testing.T) {
	dir := t.TempDir()
	a := openTestServer(t, dir, "")
	defer func() { check.Must(t, a.Close(t.Context())) }()
	check.Must(t, dashboardHost{a}.Ready(t.Context()))
	database := filepath.Join(dir, "clank.db")
	check.Must(t, os.Rename(database, database+".away"))
	err := dashboardHost{a}.Ready(t.Context())
	check.Fails(t, err, nil, "removed or replaced")
	check.Lacks(t, err.Error(), dir)
	check.Must(t, os.Rename(database+".away", database))
	check.Must(t, dashboardHost{a}.Ready(t.Context()))
}
