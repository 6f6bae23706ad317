package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/atomicfile"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/vault"
	"clank/sessions"
	"clank/sessions/access"

	"filippo.io/age"
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
		"downloads/clank/large.bin", "downloads/clank/server.json", "downloads/clank/yarn.lock", "scripts/apply.txt", "tokens.json", "transcripts/call.jsonl", "vault.json",
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
			if info, err := os.Stat(to.Path("downloads/clank/yarn.lock")); err != nil || time.Since(info.ModTime()) < 19*24*time.Hour {
				t.Errorf("what has been there for 20 days is as good as new: %v, %v", info.ModTime(), err)
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

func TestARestoreReplacesTheWholeHomeAndKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	from, to := newBackupHome(t), newBackupHome(t)
	file := filepath.Join(t.TempDir(), "backup")
	check.Must(t, check.Err(from.Backup(t.Context(), file, BackupOptions{})))
	writeFiles(t, to.Dir, map[string]string{"vault.key": "its own", "mine": "old"})
	r, err := to.Restore(t.Context(), file, RestoreOptions{Replace: true})
	check.Must(t, err)
	if text, err := os.ReadFile(filepath.Join(r.Before, "mine")); err != nil || string(text) != "old" {
		t.Errorf("the old home has %q, %v", text, err)
	}
	if text, err := os.ReadFile(to.Path("vault.key")); err != nil || string(text) != "its own" || r.NoKeys {
		t.Errorf("the key is %q, %v, missing %v; want that of the old home", text, err, r.NoKeys)
	}
	check.Fails(t, check.Err(os.Lstat(to.Path("mine"))), fs.ErrNotExist)
	check.Must(t, check.Err(to.Restore(t.Context(), file, RestoreOptions{Replace: true}))) // within the same second
	check.Must(t, to.Claim())
	to.Release()
}

func TestARestoreLeavesWhatAppearsMeanwhile(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	check.Must(t, check.Err(newBackupHome(t).Backup(t.Context(), plain, BackupOptions{})))
	data, err := os.ReadFile(plain)
	check.Must(t, err)
	quick, err := age.NewScryptRecipient("right")
	check.Must(t, err)
	quick.SetWorkFactor(1)
	var sealed bytes.Buffer
	to, err := age.Encrypt(&sealed, quick)
	check.Must(t, errors.Join(err, check.Err(to.Write(data)), to.Close()))
	file := filepath.Join(t.TempDir(), "backup")
	check.Must(t, os.WriteFile(file, sealed.Bytes(), 0o600))
	for name, there := range map[string]bool{"no home": false, "an empty home": true} {
		to := &Home{Dir: filepath.Join(t.TempDir(), "home")}
		if there {
			check.Must(t, os.Mkdir(to.Dir, 0o700))
		}
		_, err := to.Restore(t.Context(), file, RestoreOptions{Passphrase: func() (string, error) {
			writeFiles(t, to.Dir, map[string]string{"mine": "new"})
			return "right", nil
		}})
		check.Fails(t, err, nil, "meanwhile")
		if got := filesBelow(t, filepath.Dir(to.Dir)); !slices.Equal(got, []string{"home/mine"}) {
			t.Errorf("%s: there is %v", name, got)
		}
	}
}

// rewriteBackup copies a backup, with each of its files replaced by the result of change.
func rewriteBackup(t *testing.T, from, to string, change func(name string, data []byte) []byte) {
	t.Helper()
	in, err := os.Open(from)
	check.Must(t, err)
	defer in.Close()
	plain, err := gzip.NewReader(in)
	check.Must(t, err)
	f, err := os.Create(to)
	check.Must(t, err)
	out, err := newArchive(f, "")
	check.Must(t, err)
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check.Must(t, err)
		data, err := io.ReadAll(r)
		check.Must(t, err)
		if data = change(h.Name, data); data != nil {
			h.Size = int64(len(data))
			check.Must(t, errors.Join(out.WriteHeader(h), check.Err(out.Write(data))))
		}
	}
	check.Must(t, errors.Join(out.Close(), f.Close()))
}

// withManifest changes the manifest of a backup.
func withManifest(t *testing.T, change func(*BackupManifest)) func(string, []byte) []byte {
	t.Helper()
	return func(name string, data []byte) []byte {
		if name != manifestName {
			return data
		}
		var m BackupManifest
		check.Must(t, json.Unmarshal(data, &m))
		change(&m)
		data, err := json.Marshal(m)
		check.Must(t, err)
		return data
	}
}

func TestWhatCannotBeRestoredChangesNothing(t *testing.T) {
	t.Parallel()
	from := newBackupHome(t)
	dir := t.TempDir()
	good, sealed := filepath.Join(dir, "good"), filepath.Join(dir, "sealed")
	check.Must(t, check.Err(from.Backup(t.Context(), good, BackupOptions{Version: "1.2"})))
	check.Must(t, check.Err(from.Backup(t.Context(), sealed, BackupOptions{Passphrase: "right"})))
	whole, err := os.ReadFile(good)
	check.Must(t, err)
	secret := encrypted(t, whole)
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough of it"))
	for name, tt := range map[string]struct {
		ctx   context.Context
		file  string // otherwise what make makes
		pass  string // instead of a wrong one
		make  func(path string)
		again bool // into a home that is there, without a word on replacing it
		held  bool // by a server
		alien bool // this is root, and the home is not its own
		want  string
	}{
		"no file":         {file: filepath.Join(dir, "none"), want: "give the path of a file"},
		"no file, a home": {file: filepath.Join(dir, "none"), again: true, want: "no such file"},
		"something else": {
			make: func(p string) { check.Must(t, os.WriteFile(p, []byte("my diary"), 0o600)) },
			want: "no backup of clank",
		},
		"a folder": {file: dir, want: "restore " + dir + ": read it: is a directory"},
		"empty": {
			make: func(p string) { check.Must(t, os.WriteFile(p, nil, 0o600)) },
			want: "no backup of clank, and nothing was changed: give the path",
		},
		"cut off": {
			make: func(p string) { check.Must(t, os.WriteFile(p, whole[:len(whole)-100], 0o600)) },
			want: "damaged or cut off",
		},
		"changed":          {make: func(p string) { check.Must(t, os.WriteFile(p, flipped(whole), 0o600)) }, want: "damaged"},
		"wrong passphrase": {file: sealed, want: "passphrase is wrong"},
		"it is there":      {file: good, again: true, want: "--replace"},
		"it runs":          {file: good, held: true, want: "another clank uses this home"},
		"stopped":          {file: good, ctx: stopped, want: "enough of it"},
		"a file changed": {make: func(p string) {
			rewriteBackup(t, good, p, func(name string, data []byte) []byte {
				if name == "tokens.json" {
					return []byte("[1]")
				}
				return data
			})
		}, want: "tokens.json is missing or not as it was"},
		"a file more": {make: func(p string) {
			rewriteBackup(t, good, p, withManifest(t, func(m *BackupManifest) { delete(m.Files, "tokens.json") }))
		}, want: "files and should have"},
		"a file outside": {make: func(p string) {
			out, err := os.Create(p)
			check.Must(t, err)
			a, err := newArchive(out, "")
			check.Must(t, err)
			check.Must(t, errors.Join(a.WriteHeader(&tar.Header{Name: "clank.db", Typeflag: tar.TypeReg}),
				a.WriteHeader(&tar.Header{Name: "../out", Typeflag: tar.TypeReg}), a.Close(), out.Close()))
		}, want: "escapes"},
		"an archive of something else": {make: func(p string) {
			rewriteBackup(t, good, p, func(name string, data []byte) []byte {
				if name == "clank.db" {
					return nil
				}
				return data
			})
		}, want: "no backup of clank, and nothing was changed: give the path"},
		"encrypted and cut off": {
			make: func(p string) { check.Must(t, os.WriteFile(p, secret[:len(secret)-100], 0o600)) },
			pass: "right", want: "damaged or cut off, and nothing was changed",
		},
		"encrypted and cut off at the beginning": {
			make: func(p string) { check.Must(t, os.WriteFile(p, secret[:300], 0o600)) },
			pass: "right", want: "damaged or cut off, and nothing was changed",
		},
		"something else encrypted": {
			make: func(p string) { check.Must(t, os.WriteFile(p, encrypted(t, []byte("my secret diary")), 0o600)) },
			pass: "right", want: "no backup of clank",
		},
		"another account's": {file: good, alien: true, want: "belongs to #12345, who could not read what root writes"},
		"newer": {make: func(p string) {
			rewriteBackup(t, good, p, withManifest(t, func(m *BackupManifest) { m.Schema = 1000 }))
		}, want: "newer clank (1.2, with schema 1000"},
		"another format": {make: func(p string) {
			rewriteBackup(t, good, p, withManifest(t, func(m *BackupManifest) { m.Format = 2 }))
		}, want: "format 2"},
	} {
		t.Run(name, func(t *testing.T) {
			file := tt.file
			if tt.make != nil {
				file = filepath.Join(t.TempDir(), "made")
				tt.make(file)
			}
			to := &Home{Dir: filepath.Join(t.TempDir(), "home")}
			writeFiles(t, to.Dir, map[string]string{"mine": "old"})
			if tt.held {
				server := &Home{Dir: to.Dir}
				check.Must(t, server.Claim())
				defer server.Release()
			}
			if tt.alien {
				if os.Geteuid() != 0 {
					t.Skip("only root can give a home to another account")
				}
				check.Must(t, os.Chown(to.Dir, 12345, 12345))
				_, _, err := to.EraseSubject(t.Context(), os.Getenv, sqlite.Subject{Person: "1"})
				check.Fails(t, err, nil, tt.want)
			}
			if tt.ctx == nil {
				tt.ctx = t.Context()
			}
			if tt.pass == "" {
				tt.pass = "wrong"
			}
			_, err := to.Restore(tt.ctx, file, RestoreOptions{Replace: !tt.again, Passphrase: phrase(tt.pass)})
			check.Fails(t, err, nil, tt.want)
			if got := filesBelow(t, filepath.Dir(to.Dir)); !slices.Equal(
				slices.DeleteFunc(got, func(n string) bool { return n == "home/clank.lock" }), []string{"home/mine"}) {
				t.Errorf("there is %v, want the home as it was", got)
			}
		})
	}
}

// encrypted returns data encrypted with the passphrase "right", faster than a backup.
func encrypted(t *testing.T, data []byte) []byte {
	t.Helper()
	recipient, err := age.NewScryptRecipient("right")
	check.Must(t, err)
	recipient.SetWorkFactor(10)
	var b bytes.Buffer
	to, err := age.Encrypt(&b, recipient)
	check.Must(t, err)
	check.Must(t, errors.Join(check.Err(to.Write(data)), to.Close()))
	return b.Bytes()
}

// flipped returns data with a changed byte in its middle.
func flipped(data []byte) []byte {
	data = slices.Clone(data)
	data[len(data)/2] ^= 0x10
	return data
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
	check.Fails(t, writeNewFile(twice, func(*atomicfile.File) error { // another backup was faster
		return os.WriteFile(twice, []byte("the other"), 0o600)
	}), nil, "there already")
	check.Must(t, os.Remove(h.DatabaseFile()))
	check.Fails(t, check.Err(h.Backup(t.Context(), filepath.Join(dir, "b"), BackupOptions{})), nil,
		"nothing is kept in")
	if got := filesBelow(t, dir); !slices.Equal(got, []string{"there"}) {
		t.Errorf("left behind: %v", got)
	}
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

func TestEachPartOfTheHomeIsInTheManual(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/settings.md")
	check.Must(t, err)
	_, table, _ := strings.Cut(string(text), "| file or folder |")
	table, _, _ = strings.Cut(table, "\n\n")
	named := map[string]bool{}
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
			name := strings.TrimSuffix(m[1], "/")
			named[name] = true
			if findHomePart(name).name == "" {
				t.Errorf("docs/settings.md names %s: say in homeParts what becomes of it", name)
			}
		}
	}
	for _, p := range homeParts {
		if name := strings.TrimSuffix(p.name, "*"); !named[name] && !strings.HasPrefix(name, "*") && name != "." {
			t.Errorf("docs/settings.md does not name %s", name)
		}
	}
}

func TestWhoIsForgottenIsNowhereInTheHome(t *testing.T) {
	t.Parallel()
	env := func(name string) string { return map[string]string{"CLANK_VAULT_KEYRING": "off"}[name] }
	run := func(user, guild string) string {
		return `{"kind":"begin","begin":{"task":{"origin":{"kind":"discord","user":"` + user + `","guild":"` + guild +
			`"}}}}` + "\n"
	}
	said := func(ids ...string) string {
		var lines strings.Builder
		for _, id := range ids {
			lines.WriteString(`{"at":"2026-03-01T12:00:00Z","id":"` + id + `","by":"` + id + `","text":"said by ` + id + `"}` +
				"\n")
		}
		return lines.String()
	}
	for _, tt := range []struct {
		of   sqlite.Subject
		gone []string // what is nowhere any more
		left []string // beside the database, the vault and its key
	}{
		{
			sqlite.Subject{Person: "canary"},
			[]string{"canary"},
			[]string{
				"browser/clank@server-7/state.age", "downloads/clank@server-7/bobs.txt", "films/film@server-7/t2.webm",
				"inbound/s2/f/x",
				"pictures/clank@server-7/x.png", "runs/t2/run.jsonl", "tokens.json", "traces/clank@server-7/x.zip", "transcripts/2026-03-01T120000Z-7-1-a.jsonl",
			},
		},
		{
			sqlite.Subject{Server: "7"},
			[]string{"server-7", "said by", `"guild":"7"`},
			[]string{
				"browser/clank@person-canary/state.age", "downloads/clank@person-canary/x", "inbound/s2/f/x",
				"pictures/clank@person-canary/x.png", "tokens.json", "traces/clank@person-canary/x.zip",
			},
		},
	} {
		t.Run(tt.of.Person+tt.of.Server, func(t *testing.T) {
			t.Parallel()
			h := &Home{Dir: filepath.Join(t.TempDir(), "home")}
			hers := h.Path("downloads", "clank@server-7", "canary.pdf")
			writeFiles(t, h.Dir, map[string]string{
				"browser/clank@person-canary/state.age": "x", "browser/clank@person-canaryat7/state.age": "x",
				"browser/clank@server-7/state.age": "x",
				"downloads/clank@person-canary/x":  "x", "downloads/clank@server-7/canary.pdf": "x",
				"downloads/clank@server-7/bobs.txt": "x", "pictures/clank@person-canary/x.png": "x",
				"pictures/clank@server-7/x.png": "x", "traces/clank@person-canary/x.zip": "x", "traces/clank@server-7/x.zip": "x",
				"unfinished-tasks.json": `[{"session":"s1","prompt":"canary","origin":{"kind":"discord","user":"canary","guild":"7"}}]`,
				"inbound/s1@server-7/f/canary.pdf":  "x", "inbound/s2/f/x": "x", "runs/t1/run.jsonl": run("canary", "7"),
				"runs/old/run.jsonl": run("canary", "7"), "runs/t2/run.jsonl": run("bob", "7"),
				"films/film@server-7/t1.webm": "canary",
				"films/film@server-7/t2.webm": "bob", "transcripts/2026-03-01T120000Z-7-1-a.jsonl": said("canary", "bob"),
				"transcripts/2026-03-01T120000Z-7-1-b.jsonl": said("canary"),
			})
			db, err := sqlite.Open(t.Context(), h.DatabaseFile())
			check.Must(t, err)
			for i, user := range []string{"canary", "bob"} {
				id := strconv.Itoa(i + 1)
				from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", Channel: "1", User: user, UserName: user}
				s := sessions.Session{ID: "s" + id, Origin: from, State: sessions.SessionParked, Title: user}
				r := sessions.TaskRecord{
					Task:  sessions.Task{ID: "t" + id, SessionID: s.ID, Prompt: "for " + user, Origin: from},
					State: sessions.TaskDone,
				}
				if user == "canary" {
					r.Downloads = []sessions.File{{ID: "f", Name: "canary.pdf", Path: hers}}
				}
				if tt.of.Server != "" && user == "bob" { // elsewhere
					s.Origin.Guild, r.Origin.Guild = "8", "8"
				}
				check.Must(t, db.SaveTask(t.Context(), r, s))
			}
			check.Must(t, db.Close())
			opts, err := VaultOptions(env, h)
			check.Must(t, err)
			v, err := vault.Open(t.Context(), opts)
			check.Must(t, err)
			for name, users := range map[string][]string{"shared": {"canary", "bob"}, "canarys": {"canary"}, "operators": nil} {
				entry := vault.NewEntry{
					Name: name, Origins: []string{"https://a.example"}, Username: "u", Password: "pass word",
					Users: users,
				}
				check.Must(t, v.Put(t.Context(), entry))
			}
			tokens, err := access.OpenTokens(h.TokenFile())
			check.Must(t, err)
			for _, user := range []string{"canary", "bob"} {
				check.Must(t, check.Err(tokens.SignIn(access.Token{Name: user, User: user}, 0)))
			}

			for _, p := range homeParts {
				if found, err := filepath.Glob(h.Path(p.name)); p.people != peopleNone && (err != nil || len(found) == 0) {
					t.Errorf("%s may hold something of people: let the test put some of it there", p.name)
				}
			}

			file := filepath.Join(t.TempDir(), "export")
			exported, err := h.ExportSubject(t.Context(), env, tt.of, file)
			check.Must(t, err)
			if len(exported.Files) == 0 || len(exported.Database["task"]) != 1 {
				t.Errorf("exported %+v", exported)
			}
			check.Must(t, h.Claim())
			_, _, err = (&Home{Dir: h.Dir}).EraseSubject(t.Context(), env, tt.of)
			check.Fails(t, err, ErrHomeClaimed)
			h.Release()
			for range 2 { // again changes nothing
				_, _, err := h.EraseSubject(t.Context(), env, tt.of)
				check.Must(t, err)
			}
			all := filesBelow(t, h.Dir)
			for _, name := range all {
				data, err := os.ReadFile(h.Path(name))
				check.Must(t, err)
				for _, word := range tt.gone {
					if strings.Contains(strings.ToLower(name+string(data)), word) {
						t.Errorf("%s has %q", name, word)
					}
				}
			}
			beside := slices.DeleteFunc(all, func(n string) bool {
				return strings.HasPrefix(n, "clank.") || strings.HasPrefix(n, "vault.") || strings.HasSuffix(n, ".lock")
			})
			check.Diff(t, "what is left", beside, tt.left)
			entries, err := v.Entries(t.Context())
			if want := map[string]int{"canary": 2, "": 3}[tt.of.Person]; err != nil || len(entries) != want {
				t.Errorf("the vault has %+v, %v; want %d entries", entries, err, want)
			}
			if in, err := tokens.SignIns(); err != nil || len(in) != len(entries)-1 {
				t.Errorf("signed in are %+v, %v", in, err)
			}
		})
	}
}

func FuzzARestoreStaysInItsFolder(f *testing.F) {
	for _, name := range []string{"vault.json", "../outside", "/outside", "a/../../outside", manifestName} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, name := range []string{"clank.db", name} {
			check.Must(f, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o777, Size: 2}))
			check.Must(f, check.Err(w.Write([]byte("{}"))))
		}
		check.Must(f, w.Close())
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		into := filepath.Join(dir, "into")
		check.Must(t, os.Mkdir(into, 0o700))
		root, err := os.OpenRoot(into)
		check.Must(t, err)
		defer root.Close()
		var m BackupManifest
		sums, err := unpackBackup(t.Context(), tar.NewReader(bytes.NewReader(data)), root, &m)
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("it wrote beside its folder: %v", entries)
		}
		if files := filesBelow(t, into); err == nil && len(files) != len(sums) {
			t.Errorf("it told of %d files and wrote %d", len(sums), len(files))
		}
	})
}
