package server

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// newBackupHome returns a home with files of each kind, and a database with a session.
func newBackupHome(t *testing.T) *Home {
	t.Helper()
	h := &Home{Dir: filepath.Join(t.TempDir(), "home")}
	writeFiles(t, h.Dir, map[string]string{
		"vault.json": "sealed", "vault.key": "key", "browser.key": "key", "tokens.json": "[]", "scripts/apply.txt": "open x",
		"browser/profiles.json": "{}", "browser/clank@person-1/state.age": "sealed",
		"browser/clank/user-data/Default/Preferences": "{}", "browser/clank/user-data/Default/Cache/one": "cached",
		"browser/clank/user-data/GPUCache/two": "cached", "runs/t1/run.jsonl": "{}", "films/film/t1.webm": "film",
		"downloads/clank/large.bin": strings.Repeat("large", maxInMemory/4), "transcripts/call.jsonl": "{}",
		"server.json": "{}", "control.json": "{}", "clank.lock": "", "downloads/.staging-1/part": "part",
		"downloads/clank/yarn.lock": "called like a lock", "downloads/clank/server.json": "called like clank's own",
		"browser/profiles.json.lock": "", "browser/clank/user-data/clank.lock": "", "stopwords/list": "stop",
		"browser/clank/user-data/clank.holder": "{}", "browser/clank/user-data/DevToolsActivePort": "1",
	})
	at := time.Now().AddDate(0, 0, -20)
	check.Must(t, os.Chtimes(h.Path("downloads/clank/yarn.lock"), at, at))
	saveSession(t, h, "s1")
	return h
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		check.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
}

func saveSession(t *testing.T, h *Home, id string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), h.DatabaseFile())
	check.Must(t, err)
	check.Must(t, errors.Join(db.SaveSession(t.Context(), sessions.Session{ID: id, State: sessions.SessionParked}),
		db.Close()))
}

// filesBelow lists the files of a folder.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	check.Must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	slices.Sort(names)
	return names
}

func phrase(text string) func() (string, error) { return func() (string, error) { return text, nil } }

func TestWhatIsBackedUpIsRestored(t *testing.T) {
	t.Parallel()
	kept := []string{
		"browser/clank/user-data/Default/Preferences", "browser/clank@person-1/state.age", "browser/profiles.json",
		"clank.db",
		"downloads/clank/large.bin", "downloads/clank/server.json", "downloads/clank/yarn.lock", "scripts/apply.txt",
		"tokens.json", "transcripts/call.jsonl", "vault.json",
	}
	for name, tt := range map[string]struct {
		opts BackupOptions
		more []string
		link bool // CLANK_HOME is a link to it
		disk bool // parts of it are links to another disk
	}{
		"as it is":         {},
		"behind a link":    {link: true},
		"on several disks": {disk: true},
		"with recordings": {
			opts: BackupOptions{Recordings: true}, more: []string{"films/film/t1.webm", "runs/t1/run.jsonl"},
		},
		"with a passphrase": {opts: BackupOptions{Passphrase: "correct horse"}, more: []string{"browser.key", "vault.key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newBackupHome(t)
			if tt.link {
				link := filepath.Join(t.TempDir(), "link")
				check.Must(t, os.Symlink(h.Dir, link))
				h.Dir = link
				_, err := h.Backup(t.Context(), filepath.Join(link, "backup"), tt.opts)
				check.Fails(t, err, nil, "choose another place")
			}
			if tt.disk {
				disk := t.TempDir()
				for i, part := range []string{"downloads", "browser/clank", "tokens.json"} {
					to := filepath.Join(disk, strconv.Itoa(i))
					check.Must(t, errors.Join(os.Rename(h.Path(part), to), os.Symlink(to, h.Path(part))))
				}
			}
			file := filepath.Join(t.TempDir(), "backup")
			// It runs: another program has the database open, and has written what is in its log alone.
			db, err := sqlite.Open(t.Context(), h.DatabaseFile())
			check.Must(t, err)
			s2 := sessions.Session{ID: "s2", State: sessions.SessionParked}
			check.Must(t, db.SaveTask(t.Context(), sessions.TaskRecord{
				Task: sessions.Task{
					ID: "t1", SessionID: "s2", Files: []sessions.File{{Path: "/elsewhere/x"}, {Path: h.Path("inbound", "s2", "x")}},
				},
				Downloads: []sessions.File{{Name: "large", Path: h.Path("downloads", "clank", "large.bin")}},
			}, s2))
			m, err := h.Backup(t.Context(), file, tt.opts)
			check.Must(t, errors.Join(err, db.Close()))
			want := slices.Sorted(slices.Values(append(slices.Clone(kept), tt.more...)))
			check.Diff(t, "what is in it", slices.Sorted(maps.Keys(m.Files)), want)
			to := &Home{Dir: filepath.Join(t.TempDir(), "new", "home")}
			r, err := to.Restore(t.Context(), file, RestoreOptions{Passphrase: phrase(tt.opts.Passphrase)})
			check.Must(t, err)
			if r.NoKeys != (tt.opts.Passphrase == "") || r.Before != "" {
				t.Errorf("restored %+v", r)
			}
			check.Diff(t, "the home", filesBelow(t, to.Dir), want)
			if got, err := os.ReadFile(to.Path("downloads/clank/large.bin")); err != nil || len(got) != 5*(maxInMemory/4) {
				t.Errorf("a large file has %d bytes, %v", len(got), err)
			}
			old, err := os.Stat(to.Path("downloads/clank/yarn.lock"))
			if check.Must(t, err); time.Since(old.ModTime()) < 19*24*time.Hour {
				t.Errorf("what has been there for 20 days is from %v", old.ModTime())
			}
			restored, err := sqlite.Open(t.Context(), to.DatabaseFile())
			check.Must(t, err)
			for _, id := range []string{"s1", "s2"} {
				check.Must(t, check.Err(restored.Session(t.Context(), id)))
			}
			task, err := restored.Task(t.Context(), "t1")
			check.Must(t, errors.Join(err, restored.Close()))
			got := []string{task.Files[0].Path, task.Files[1].Path, task.Downloads[0].Path}
			paths := []string{"/elsewhere/x", to.Path("inbound", "s2", "x"), to.Path("downloads", "clank", "large.bin")}
			if diff := cmp.Diff(paths, got); diff != "" {
				t.Errorf("the files of a task (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheDatabaseOfARunningBrowserIsCopiedConsistently(t *testing.T) {
	t.Parallel()
	h := newBackupHome(t)
	dir := h.Path("browser", "clank", "user-data")
	check.Must(t, os.Symlink("here-1", filepath.Join(dir, "SingletonLock")))
	writeFiles(t, dir, map[string]string{"Default/Locked": "SQLite format 3\x00 and no more"})
	cookies, err := sqlite.Open(t.Context(), filepath.Join(dir, "Default", "Cookies"))
	check.Must(t, err)
	defer cookies.Close()
	check.Must(t, cookies.SaveSession(t.Context(), sessions.Session{ID: "crumb", State: sessions.SessionParked}))
	file := filepath.Join(t.TempDir(), "backup")
	m, err := h.Backup(t.Context(), file, BackupOptions{})
	check.Must(t, err)
	check.Diff(t, "profiles that ran", m.Running, []string{"clank"})
	to := &Home{Dir: filepath.Join(t.TempDir(), "home")}
	check.Must(t, check.Err(to.Restore(t.Context(), file, RestoreOptions{})))
	restored := to.Path("browser/clank/user-data/Default")
	files := slices.DeleteFunc(filesBelow(t, restored), func(n string) bool { return strings.Contains(n, ".process-") })
	if !slices.Equal(files, []string{"Cookies", "Locked", "Preferences"}) {
		t.Errorf("the profile has %v", files)
	}
	copied, err := sqlite.Open(t.Context(), filepath.Join(restored, "Cookies"))
	check.Must(t, err)
	check.Must(t, errors.Join(check.Err(copied.Session(t.Context(), "crumb")), copied.Close()))
}

func TestNoBackupIsHalf(t *testing.T) {
	t.Parallel()
	h := newBackupHome(t)
	dir := t.TempDir()
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough of it"))
	check.Fails(t, check.Err(h.Backup(stopped, filepath.Join(dir, "b"), BackupOptions{})), nil, "enough of it")
	check.Must(t, os.WriteFile(filepath.Join(dir, "there"), nil, 0o600))
	check.Fails(t, check.Err(h.Backup(t.Context(), filepath.Join(dir, "there"), BackupOptions{})), nil, "there already")
	check.Fails(t, check.Err(h.Backup(t.Context(), h.Path("b"), BackupOptions{})), nil, "another place")
	check.Fails(t, check.Err(h.Backup(t.Context(), filepath.Join(dir, "none", "b"), BackupOptions{})), nil,
		"there is no folder "+filepath.Join(dir, "none"))
	twice := filepath.Join(t.TempDir(), "b")
	check.Fails(t, writeNewFile(twice, func(io.Writer) error { // another backup was faster
		return os.WriteFile(twice, []byte("the other"), 0o600)
	}), nil, "there already")
	check.Must(t, os.Remove(h.DatabaseFile()))
	check.Fails(t, check.Err(h.Backup(t.Context(), filepath.Join(dir, "b"), BackupOptions{})), nil,
		"nothing is kept in")
	if got := filesBelow(t, dir); !slices.Equal(got, []string{"there"}) {
		t.Errorf("left behind: %v", got)
	}
}

func TestTheUnfinishedFilesOfAKilledProcessAreRemoved(t *testing.T) {
	h, dest, tmp := newBackupHome(t), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	file := filepath.Join(dest, "b")
	check.Must(t, check.Err(h.Backup(t.Context(), file, BackupOptions{})))
	for name, next := range map[string]func() error{
		"backup": func() error { return check.Err(h.Backup(t.Context(), file+"2", BackupOptions{})) },
		"restore": func() error {
			to := &Home{Dir: filepath.Join(dest, "home")}
			return check.Err(to.Restore(t.Context(), file, RestoreOptions{}))
		},
		"serve": func() error { return (&Server{Home: &Home{Dir: filepath.Join(dest, "home")}}).openStateDir() },
	} {
		for _, dir := range []string{dest, tmp} {
			if name == "restore" && dir == tmp { // which it does not use
				continue
			}
			killed, _, err := makeUnfinished(dir)
			check.Must(t, err)
			check.Must(t, os.Remove(filepath.Join(killed, lockFileName))) // its lock is that of no process
			writeFiles(t, killed, map[string]string{lockFileName: "", "clank.db": "sessions"})
			writeFiles(t, dir, map[string]string{".clank-unfinished": "somebody else's"})
		}
		busy, remove, err := makeUnfinished(dest)
		check.Must(t, err)
		check.Must(t, next())
		if left := globUnfinished(t, dest, tmp); !slices.Equal(left, []string{busy}) {
			t.Errorf("%s leaves %v, want %s, which is in use", name, left, busy)
		}
		check.Must(t, remove())
	}
	if left := globUnfinished(t, dest, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// globUnfinished lists the folders of unfinished files in folders.
func globUnfinished(t *testing.T, dirs ...string) (found []string) {
	t.Helper()
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, unfinishedPrefix+"*"))
		check.Must(t, err)
		found = append(found, names...)
	}
	return found
}

// mountDisk returns the folder of a disk with this much room.
func mountDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir = filepath.Join(t.TempDir(), "disk")
	check.Must(t, os.Mkdir(dir, 0o700))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted: %v, %s", err, out)
	}
	t.Cleanup(func() { check.Must(t, exec.Command("umount", dir).Run()) })
	return dir
}

func TestAReadOnlyDiskCanBeBackedUpAndIsNamedWhereItCannotBeWritten(t *testing.T) {
	disk, dir := mountDisk(t, "4m"), t.TempDir()
	h, crashed := &Home{Dir: filepath.Join(disk, "home")}, &Home{Dir: filepath.Join(disk, "crashed")}
	saveSession(t, h, "s1")
	check.Must(t, os.Mkdir(crashed.Dir, 0o700))
	db, err := sqlite.Open(t.Context(), h.DatabaseFile())
	check.Must(t, err)
	check.Must(t, db.SaveSession(t.Context(), sessions.Session{ID: "s2", State: sessions.SessionParked}))
	for _, part := range []string{"", "-wal", "-shm"} {
		check.Must(t, copyFile(h.DatabaseFile()+part, crashed.DatabaseFile()+part))
	}
	check.Must(t, errors.Join(db.Close(), exec.Command("mount", "-o", "remount,ro", disk).Run()))
	for _, from := range []*Home{h, crashed} {
		file, to := filepath.Join(dir, filepath.Base(from.Dir)), &Home{Dir: filepath.Join(t.TempDir(), "home")}
		check.Must(t, check.Err(from.Backup(t.Context(), file, BackupOptions{})))
		check.Must(t, check.Err(to.Restore(t.Context(), file, RestoreOptions{})))
		db, err := sqlite.Open(t.Context(), to.DatabaseFile())
		check.Must(t, err)
		check.Must(t, errors.Join(check.Err(db.Session(t.Context(), "s2")), db.Close()))
	}
	file := filepath.Join(dir, "home")
	check.Fails(t, check.Err(h.Backup(t.Context(), filepath.Join(disk, "backup"), BackupOptions{})), nil,
		"write "+filepath.Join(disk, "backup")+": read-only file system: choose another place")
	check.Fails(t, check.Err(h.Restore(t.Context(), file, RestoreOptions{Replace: true})), nil,
		"read-only file system; set CLANK_HOME to a directory that can be written")
	check.Fails(t, check.Err(h.OpenDatabase(t.Context())), nil, "whether its disk is read-only")
	check.Must(t, exec.Command("mount", "-o", "remount,rw", disk).Run())
	check.Fails(t, check.Err((&Home{Dir: disk}).Restore(t.Context(), file, RestoreOptions{Replace: true})), nil,
		"where a disk is mounted, set CLANK_HOME to a folder on it")
}

func TestADiskWithoutRoomIsNamedAsTheCause(t *testing.T) {
	small, big := mountDisk(t, "16k"), filepath.Join(t.TempDir(), "backup")
	h := newBackupHome(t)
	random := make([]byte, 2*maxInMemory) // it does not shrink
	check.Must(t, check.Err(rand.Read(random)))
	writeFiles(t, h.Dir, map[string]string{"downloads/clank/random.bin": string(random)})
	check.Must(t, check.Err(h.Backup(t.Context(), big, BackupOptions{})))

	err := check.Err(h.Backup(t.Context(), filepath.Join(small, "backup"), BackupOptions{}))
	check.Fails(t, err, nil, "write "+filepath.Join(small, "backup")+": no space left on device")
	if strings.Contains(err.Error(), "shorter") {
		t.Errorf("the backup says %v, want the disk as the cause", err)
	}
	err = check.Err((&Home{Dir: filepath.Join(small, "home")}).Restore(t.Context(), big, RestoreOptions{}))
	check.Fails(t, err, nil, "no space left on device")
	if strings.Contains(err.Error(), "damaged") {
		t.Errorf("the restore says %v, want the disk as the cause", err)
	}
	t.Setenv("TMPDIR", small)
	err = check.Err(h.Backup(t.Context(), big+"2", BackupOptions{}))
	check.Fails(t, err, nil, "copy the database: there is no room in "+small)
	if left := filesBelow(t, small); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
