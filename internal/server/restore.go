package server

import (
	"archive/tar"
	"bufio"
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
	"runtime"
	"slices"
	"syscall"
	"time"

	"clank/internal/sqlite"

	"filippo.io/age"
)

// RestoreOptions configure a restore. Passphrase is called if the backup is encrypted. Replace moves an existing home
// aside; without it the home must be empty.
type RestoreOptions struct {
	Passphrase func() (string, error)
	Replace    bool
}

// Restored is the result of a restore. Before is the new path of the previous home, empty if there was none.
type Restored struct {
	Manifest BackupManifest
	Before   string
	NoKeys   bool // neither the backup nor the previous home had keys
}

// maxManifest is the maximum size of a manifest in bytes.
const maxManifest = 256 << 20

const wantBackupHint = "give the path of a file that clank backup has written"

var (
	errNoBackup = errors.New("this is no backup of clank, and nothing was changed: " + wantBackupHint)
	errDamaged  = errors.New("the backup is damaged or cut off, and nothing was changed")
)

// Restore replaces the home with a backup. It unpacks the whole backup beside the home and verifies it before it
// changes anything. It refuses to replace a home that a process uses.
func (h *Home) Restore(ctx context.Context, file string, opts RestoreOptions) (r Restored, err error) {
	defer func() {
		if at, is := errors.AsType[*fs.PathError](err); is && at.Path == file {
			err = fmt.Errorf("%s it: %w", at.Op, at.Err)
		}
		if err != nil {
			err = fmt.Errorf("restore %s: %w", file, err)
		}
	}()
	h = h.resolve()
	from, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, errors.New("there is no such file, and nothing was changed: " + wantBackupHint)
	}
	if err != nil {
		return r, err
	}
	defer from.Close()
	in := bufio.NewReader(from)
	if err = checkHead(in); err != nil {
		return r, err
	}
	defer h.Release()
	full, err := h.prepareRestore(opts.Replace)
	if err != nil {
		return r, err
	}
	unfinished, remove, err := makeUnfinished(filepath.Dir(h.Dir))
	if err != nil {
		return r, fmt.Errorf("make a folder beside the home (set CLANK_HOME to where that may be done): %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	staged := filepath.Join(unfinished, "home")
	if err := os.Mkdir(staged, 0o700); err != nil {
		return r, err
	}
	if r.Manifest, err = readBackup(ctx, in, staged, opts.Passphrase); err != nil {
		return r, err
	}
	if r.NoKeys, err = h.keepKeys(staged, r.Manifest); err != nil {
		return r, err
	}
	if err = sqlite.MoveFiles(ctx, filepath.Join(staged, "clank.db"), r.Manifest.Home, h.Dir); err != nil {
		return r, err
	}
	claimed := h.lock != nil
	// on Windows a folder with an open file cannot be renamed; elsewhere the lock moves with it
	if runtime.GOOS == "windows" {
		h.Release()
	}
	if full {
		r.Before = h.Dir + ".before-" + time.Now().UTC().Format("20060102-150405.000")
		err = os.Rename(h.Dir, r.Before)
	} else {
		err = removeEmptyHome(h.Dir, claimed)
	}
	if errors.Is(err, fs.ErrExist) {
		return r, fmt.Errorf("something was put into %s meanwhile, and nothing was changed: --replace puts it beside", h.Dir)
	}
	if err != nil {
		return r, fmt.Errorf("%w (if this is where a disk is mounted, set CLANK_HOME to a folder on it)", err)
	}
	if err = os.Rename(staged, h.Dir); err != nil && full {
		err = errors.Join(err, os.Rename(r.Before, h.Dir))
	}
	return r, err
}

// removeEmptyHome removes a home without contents. The error wraps [fs.ErrExist] if there is something in it; without
// claimed this may be a lock.
func removeEmptyHome(dir string, claimed bool) error {
	if claimed {
		for _, name := range []string{lockFileName, ownerFileName} {
			_ = os.Remove(filepath.Join(dir, name)) // what is left is found below
		}
	}
	if err := os.Remove(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// prepareRestore claims the home if it exists, and reports whether it contains anything.
func (h *Home) prepareRestore(replace bool) (full bool, err error) {
	if err := checkRoot(h.Dir, filepath.Dir(h.Dir)); err != nil {
		return false, err
	}
	entries, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, os.MkdirAll(filepath.Dir(h.Dir), 0o700)
	}
	if err == nil {
		err = h.Claim()
	}
	if errors.Is(err, ErrHomeClaimed) {
		err = fmt.Errorf("%w: end it first", err)
	}
	full = slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != lockFileName && e.Name() != ownerFileName
	})
	if err == nil && full && !replace {
		err = fmt.Errorf("there is something in %s already: --replace puts it beside", h.Dir)
	}
	return full, err
}

// keepKeys copies the keys of the current home to a restored one whose backup has none. It reports whether keys are
// missing although something is encrypted.
func (h *Home) keepKeys(staged string, m BackupManifest) (missing bool, err error) {
	for _, part := range homeParts {
		name := part.name
		if _, has := m.Files[name]; has || part.backup != backupKeys {
			continue
		}
		err := copyFile(h.Path(name), filepath.Join(staged, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		_, encrypted := m.Files["vault.json"]
		missing = missing || err != nil && encrypted && name == "vault.key"
	}
	return missing, nil
}

// readBackup unpacks a backup into an empty folder and verifies it.
func readBackup(ctx context.Context, from *bufio.Reader, into string,
	passphrase func() (string, error),
) (m BackupManifest, err error) {
	plain, err := openArchive(from, passphrase)
	if err != nil {
		return m, err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return m, err
	}
	defer root.Close()
	sums, err := unpackBackup(ctx, tar.NewReader(plain), root, &m)
	if err == nil {
		_, err = io.Copy(io.Discard, plain) // verifies the checksums of compression and encryption at the end
	}
	_, isSystem := errors.AsType[syscall.Errno](err)
	switch {
	case context.Cause(ctx) != nil:
		return m, context.Cause(ctx)
	case errors.Is(err, errNoBackup):
		return m, err
	case isSystem:
		return m, fmt.Errorf("unpack it beside the home, where it needs room (nothing was changed): %w", err)
	case err != nil:
		return m, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return m, checkBackup(ctx, into, m, sums)
}

// What encrypted and plain backups begin with: https://age-encryption.org/v1 and RFC 1952.
const (
	ageMark  = "age-encryption.org/"
	gzipMark = "\x1f\x8b"
)

// checkHead returns an error if a file does not begin as a backup does, so that nothing is said of the home before.
func checkHead(in *bufio.Reader) error {
	head, err := in.Peek(len(ageMark))
	switch _, unread := errors.AsType[*fs.PathError](err); {
	case unread:
		return err
	case string(head) != ageMark && !bytes.HasPrefix(head, []byte(gzipMark)):
		return errNoBackup
	}
	return nil
}

// openArchive returns a reader of the tar archive in a backup.
func openArchive(in *bufio.Reader, passphrase func() (string, error)) (io.Reader, error) {
	if head, _ := in.Peek(len(ageMark)); string(head) != ageMark {
		plain, err := gzip.NewReader(in)
		if _, unread := errors.AsType[*fs.PathError](err); err != nil && !unread {
			err = errNoBackup
		}
		return plain, err
	}
	phrase, err := passphrase()
	if err != nil {
		return nil, err
	}
	identity, err := age.NewScryptIdentity(phrase)
	if err != nil {
		return nil, err
	}
	opened, err := age.Decrypt(in, identity)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, errors.New("the passphrase is wrong")
	}
	if err != nil {
		return nil, fmt.Errorf("decrypt it: %w", err)
	}
	plain, err := gzip.NewReader(opened)
	switch {
	case errors.Is(err, gzip.ErrHeader):
		err = errNoBackup
	case err != nil:
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return plain, err
}

// unpackBackup unpacks all files and the manifest, and returns the checksums of the files.
func unpackBackup(ctx context.Context, from *tar.Reader, root *os.Root, m *BackupManifest) (map[string]string, error) {
	sums := map[string]string{}
	for m.Format == 0 {
		header, err := from.Next()
		if err = cmp.Or(context.Cause(ctx), err); errors.Is(err, io.EOF) {
			return nil, errors.New("its end is missing")
		}
		if err != nil {
			return nil, err
		}
		if header.Name == manifestName {
			if err := json.NewDecoder(io.LimitReader(from, maxManifest)).Decode(m); err != nil {
				return nil, fmt.Errorf("read what is in it: %w", err)
			}
			continue
		}
		if len(sums) == 0 && header.Name != "clank.db" { // which comes first
			return nil, errNoBackup
		}
		if _, twice := sums[header.Name]; twice || header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%q should not be in it", header.Name)
		}
		if sums[header.Name], err = unpackFile(root, header, from); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// unpackFile writes a file that must not exist yet, and returns its checksum.
func unpackFile(root *os.Root, h *tar.Header, from io.Reader) (sum string, err error) {
	if err := root.MkdirAll(path.Dir(h.Name), 0o700); err != nil {
		return "", err
	}
	mode := fs.FileMode(h.Mode).Perm() &^ 0o077 //nolint:gosec // permission bits only
	to, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, hash), from)
	err = errors.Join(err, to.Sync(), to.Close())
	err = errors.Join(err, root.Chtimes(h.Name, time.Time{}, h.ModTime)) // files expire by their age
	return hex.EncodeToString(hash.Sum(nil)), err
}

// checkBackup returns an error if this version cannot use the backup.
func checkBackup(ctx context.Context, dir string, m BackupManifest, sums map[string]string) error {
	newest, err := sqlite.Version()
	switch {
	case err != nil:
		return err
	case m.Format != backupFormat:
		return fmt.Errorf("the backup has format %d, and this clank knows %d: install the version that made it (%s)",
			m.Format, backupFormat, m.Version)
	case m.Schema > newest:
		return fmt.Errorf("the backup was made by a newer clank (%s, with schema %d; this one knows %d): install that "+
			"version, or restore an older backup", m.Version, m.Schema, newest)
	}
	for name, sum := range m.Files {
		if sums[name] != sum {
			return fmt.Errorf("the backup is damaged, and nothing was changed: %s is missing or not as it was", name)
		}
	}
	if len(sums) != len(m.Files) {
		return fmt.Errorf("the backup is damaged, and nothing was changed: it has %d files and should have %d", len(sums),
			len(m.Files))
	}
	version, err := sqlite.Check(ctx, filepath.Join(dir, "clank.db"))
	if err == nil && version != m.Schema {
		err = fmt.Errorf("the database has schema %d, and the backup says %d", version, m.Schema)
	}
	return err
}
