package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"clank/internal/sqlite"
	"clank/internal/test/check"

	"filippo.io/age"
)

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
		"something else, a home": {
			make:  func(p string) { check.Must(t, os.WriteFile(p, []byte("my diary"), 0o600)) },
			again: true, want: "no backup of clank",
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
				_, _, err := to.EraseSubject(t.Context(), os.Getenv, sqlite.Subject{Person: "1"}, nil)
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
