package server

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/profile"
	"clank/internal/sqlite"

	"filippo.io/age"
)

// BackupManifest lists the contents of a backup. It is the last file of the archive; an archive without it is
// truncated.
type BackupManifest struct {
	Format     int               `json:"format"`
	Version    string            `json:"version"` // of clank
	Schema     int               `json:"schema"`  // of the database
	At         time.Time         `json:"at"`
	Home       string            `json:"home"` // absolute path
	Recordings bool              `json:"recordings"`
	Keys       bool              `json:"keys"`              // it contains the key files of the vault and of browser states
	Running    []string          `json:"running,omitempty"` // profiles whose browser was running
	Files      map[string]string `json:"files"`             // SHA-256 by path in the home
}

const (
	backupFormat = 1
	manifestName = "backup.json"
)

// BackupOptions select the contents of a backup. A Passphrase encrypts the backup and adds the keys to it.
type BackupOptions struct {
	Version    string
	Recordings bool
	Passphrase string
}

// Backup writes the home to a new file: a tar archive compressed with gzip and, with a passphrase, encrypted in the
// age format. clank may be running. The file is written completely or not at all.
func (h *Home) Backup(ctx context.Context, file string, opts BackupOptions) (m BackupManifest, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("back up %s: %w", h.Dir, cmp.Or(context.Cause(ctx), err))
		}
	}()
	named := h.Dir
	h = h.resolve()
	if err := cmp.Or(h.checkOutside(file), h.CheckUsed()); err != nil {
		return m, err
	}
	m = BackupManifest{
		Format: backupFormat, Version: opts.Version, At: time.Now().UTC().Truncate(time.Second), Home: named,
		Recordings: opts.Recordings, Keys: opts.Passphrase != "", Files: map[string]string{},
	}
	return m, writeNewFile(file, func(tmp io.Writer) error {
		out, err := newArchive(tmp, opts.Passphrase)
		if err == nil {
			err = (&backup{home: h, ctx: ctx, manifest: &m, to: out.Writer, copied: map[string]bool{}}).write()
		}
		return cmp.Or(err, out.Close())
	})
}

// checkOutside returns an error for a new file in the home, where it would be backed up, and stay when people are
// forgotten.
func (h *Home) checkOutside(file string) error {
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if inside, outside := filepath.Rel(h.Dir, folder); cmp.Or(err, outside) == nil && filepath.IsLocal(inside) {
		return fmt.Errorf("%s lies in clank's home: choose another place", file)
	}
	return nil
}

// writeNewFile writes a file that only its owner may read, completely or not at all.
func writeNewFile(file string, write func(io.Writer) error) (err error) {
	if err := checkNew(file); err != nil {
		return err
	}
	dir, remove, err := makeUnfinished(filepath.Dir(file))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s: make it, or choose another place", filepath.Dir(file))
	}
	if at, is := errors.AsType[*fs.PathError](err); is {
		return fmt.Errorf("write %s: %w: choose another place", file, at.Err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	tmp, err := os.OpenFile(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = write(tmp); err == nil {
		err = tmp.Sync() // takes long
	}
	err = cmp.Or(err, tmp.Close())
	if err == nil {
		err = checkNew(file) // another one may have been written meanwhile
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if at, is := errors.AsType[*fs.PathError](err); is && at.Path == tmp.Name() {
		at.Path = file
	}
	return err
}

// checkNew returns an error if there is a file.
func checkNew(file string) error {
	_, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, fmt.Errorf("%s is there already: choose another name, or delete it", file))
}

// archive is a compressed tar archive, encrypted if there is a passphrase.
type archive struct {
	*tar.Writer

	layers []io.Closer // writers to close, the outermost first
}

func newArchive(to io.Writer, passphrase string) (*archive, error) {
	a := &archive{}
	if passphrase != "" {
		recipient, err := age.NewScryptRecipient(passphrase)
		if err != nil {
			return a, err
		}
		sealed, err := age.Encrypt(to, recipient)
		if err != nil {
			return a, err
		}
		to, a.layers = sealed, []io.Closer{sealed}
	}
	compressed := gzip.NewWriter(to)
	a.Writer, a.layers = tar.NewWriter(compressed), append([]io.Closer{compressed}, a.layers...)
	return a, nil
}

// Close finishes the archive.
func (a *archive) Close() error {
	if a.Writer == nil {
		return nil
	}
	err := a.Writer.Close()
	for _, l := range a.layers {
		err = cmp.Or(err, l.Close())
	}
	return err
}

// backup is a backup being written.
type backup struct {
	home     *Home
	ctx      context.Context //nolint:containedctx // of this backup
	manifest *BackupManifest
	to       *tar.Writer
	scratch  string          // directory for copies of databases
	copied   map[string]bool // databases of browsers already copied, by name
}

func (b *backup) write() (err error) {
	var remove func() error
	if b.scratch, remove, err = makeUnfinished(os.TempDir()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	// Files are written before the database refers to them, so copying the database first guarantees that they exist.
	database := filepath.Join(b.scratch, "clank.db")
	if b.manifest.Schema, err = sqlite.Snapshot(b.ctx, b.home.DatabaseFile(), database); err != nil {
		return err
	}
	if err := b.addFile("clank.db", database); err != nil {
		return err
	}
	if err := os.Remove(database); err != nil { // it may be large
		return err
	}
	if err := filepath.WalkDir(b.home.Dir, b.visit); err != nil {
		return err
	}
	text, err := json.MarshalIndent(b.manifest, "", "  ")
	if err == nil {
		err = b.addBytes(manifestName, text)
	}
	delete(b.manifest.Files, manifestName)
	return err
}

// visit adds a file of the home that belongs in the backup. It skips files deleted since the directory was read. Links
// are followed where people may have put a part of the home on another disk.
func (b *backup) visit(file string, e fs.DirEntry, err error) error {
	name, outside := filepath.Rel(b.home.Dir, file)
	name = filepath.ToSlash(name)
	err = cmp.Or(err, outside, context.Cause(b.ctx))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || name == ".":
		return err
	case e.IsDir() && b.isExcluded(name):
		return fs.SkipDir
	case b.isExcluded(name):
		return nil
	case e.Type() == fs.ModeSymlink && (path.Dir(name) == "." || path.Dir(name) == browserFolder):
		info, err := os.Stat(file)
		if err != nil {
			return fmt.Errorf("follow the link %s: %w", file, err)
		}
		if info.IsDir() {
			return filepath.WalkDir(file+string(filepath.Separator), b.visit)
		}
	case !e.Type().IsRegular():
		return nil
	}
	err = b.addFile(name, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// isExcluded reports whether a file or folder, by its path in the home, is not backed up.
func (b *backup) isExcluded(name string) bool {
	part, inPart, _ := strings.Cut(name, "/")
	switch findHomePart(part).backup {
	case backupNever:
		return true
	case backupKeys:
		return !b.manifest.Keys
	case backupRecordings:
		return !b.manifest.Recordings
	case backupAlways:
	}
	base := path.Base(name)
	switch {
	case part == browserFolder && (strings.HasSuffix(inPart, ".lock") || strings.HasPrefix(base, "."+profile.PackName)):
		return true // of the running process, or being written
	case strings.HasPrefix(base, ".staging-"):
		return true // being written
	}
	_, _, inside, ok := splitProfileFile(name)
	return ok && (inside == "clank.holder" || inside == "DevToolsActivePort" || profile.IsRecreated(inside))
}

// splitProfileFile splits the path of a file in the home into the profile that it belongs to, the user data directory
// (relative to the home) and the path in that.
func splitProfileFile(name string) (profileName, dir, inside string, ok bool) {
	parts := strings.SplitN(name, "/", 4)
	if len(parts) < 4 || parts[0] != "browser" || parts[2] != "user-data" {
		return "", "", "", false
	}
	return parts[1], path.Join(parts[:3]...), parts[3], true
}

// addFile adds a file under its name in the home. A database of a running browser is copied through SQLite, including
// its journal files; if the browser has locked it, its files are added as they are.
func (b *backup) addFile(name, file string) error {
	of, dir, _, ok := splitProfileFile(name)
	if !ok || !b.isRunning(dir) {
		return b.addPlain(name, file)
	}
	if !slices.Contains(b.manifest.Running, of) {
		b.manifest.Running = append(b.manifest.Running, of)
	}
	for _, side := range []string{"-journal", "-wal", "-shm"} {
		if main, is := strings.CutSuffix(name, side); is && b.copied[main] {
			return nil
		}
	}
	if !isDatabase(file) {
		return b.addPlain(name, file)
	}
	copied := filepath.Join(b.scratch, "copy")
	defer func() { _ = os.Remove(copied) }()
	if err := sqlite.CopyFile(b.ctx, file, copied); err != nil {
		return cmp.Or(context.Cause(b.ctx), b.addPlain(name, file))
	}
	b.copied[name] = true
	return b.addPlain(name, copied)
}

// isRunning reports whether a browser runs with a user data directory, by its lock link there.
func (b *backup) isRunning(dir string) bool {
	_, err := os.Readlink(b.home.Path(filepath.FromSlash(dir), "SingletonLock"))
	return err == nil
}

// isDatabase reports whether a file is an SQLite database.
func isDatabase(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// maxInMemory is the maximum size of a file that is read into memory.
const maxInMemory = 4 << 20

// addPlain adds a file as it is. If the file grows meanwhile, the added size is that at the start.
func (b *backup) addPlain(name, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}
	if h.Size > maxInMemory {
		return b.addStream(h, f)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxInMemory))
	if err != nil {
		return err
	}
	h.Size = int64(len(data))
	return b.addStream(h, bytes.NewReader(data))
}

// addBytes adds a file of now.
func (b *backup) addBytes(name string, data []byte) error {
	h := tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: b.manifest.At}
	return b.addStream(h, bytes.NewReader(data))
}

func (b *backup) addStream(h tar.Header, from io.Reader) error {
	h.Typeflag = tar.TypeReg
	if err := b.to.WriteHeader(&h); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(b.to, sum), from, h.Size); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s became shorter while it was copied; try again", h.Name)
	} else if err != nil {
		return err
	}
	b.manifest.Files[h.Name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}
