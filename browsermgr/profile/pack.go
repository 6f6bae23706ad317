package profile

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"clank/browsermgr/chrome"
	"clank/internal/atomicfile"

	"filippo.io/age"
)

// PackName is the name of the file next to a user data directory that holds its encrypted state while no browser runs:
// a gzip-compressed tar archive in the format of age (age-encryption.org/v1).
const PackName = "state.age"

// Suffixes of intermediate directories, which are discarded after a crash: either the unencrypted directory, if there
// is one, or the pack is complete.
const (
	packedSuffix   = ".packed"   // of a directory being removed after it was packed
	unpackedSuffix = ".unpacked" // of a directory being unpacked
)

// recreated are files and folders that Chromium recreates when they are missing from a user data directory or the
// profile in it: caches, downloaded components, metrics. They are not packed.
var recreated = []string{
	"BrowserMetrics", "BrowserMetrics-spare.pma", "Cache", "Code Cache", "Crashpad", "Crash Reports",
	"DawnGraphiteCache", "DawnWebGPUCache", "GPUCache", "GPUPersistentCache", "GrShaderCache", "GraphiteDawnCache",
	"Safe Browsing", "ShaderCache", "Shared Dictionary", "component_crx_cache", "extensions_crx_cache",
	"optimization_guide_model_store", "segmentation_platform",
}

// IsRecreated reports whether Chromium recreates a file or folder, given by its path in a user data directory.
func IsRecreated(name string) bool {
	parent, base := path.Split(name)
	return (parent == "" || parent == "Default/") && slices.Contains(recreated, base)
}

// packWorkFactor is age's minimum work factor for key derivation: the input is not a guessable password but a 256-bit
// key.
const packWorkFactor = 1

// PackState encrypts a user data directory that no browser uses into the pack next to it, with the first of keys, and
// removes the directory. It also cleans up after an interrupted packing. Without a directory it does nothing. If it
// fails, the directory stays.
func PackState(ctx context.Context, dir string, keys func(context.Context) ([]string, error)) error {
	err := removeRemains(dir)
	if _, missing := os.Lstat(dir); err != nil || errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	if err := chrome.Reap(ctx, dir); err != nil { // also fails if the directory is in use
		return err
	}
	known, err := keys(ctx)
	if err == nil {
		err = writePack(ctx, dir, known[0])
	}
	if err != nil {
		return fmt.Errorf("pack the state: %w", err)
	}
	// Rename it first: while it has its name it counts as newer than the pack, even if half removed.
	err = os.Rename(dir, dir+packedSuffix)
	if err == nil {
		err = os.RemoveAll(dir + packedSuffix)
	}
	if err != nil {
		return fmt.Errorf("remove the state that was packed: %w", err)
	}
	return nil
}

// UnpackState restores a user data directory from the pack next to it, if there is a pack and no directory. A directory
// was left unencrypted by a crash, and is newer. The pack stays until it is replaced. The error names the pack and what
// to do; then there is no directory.
func UnpackState(ctx context.Context, dir string, keys func(context.Context) ([]string, error)) error {
	if err := removeRemains(dir); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // removes an empty one
		return nil // it is not empty
	}
	file, err := os.Open(packOf(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer file.Close()
		var known []string
		if known, err = keys(ctx); err == nil {
			err = readPack(ctx, file, dir+unpackedSuffix, known)
		}
	}
	if err == nil {
		err = os.Rename(dir+unpackedSuffix, dir)
	}
	if err != nil {
		return errors.Join(packError(packOf(dir), err), removeRemains(dir))
	}
	return nil
}

// packError says what to do about a pack that cannot be unpacked. The pack is kept.
func packError(file string, err error) error {
	why := "it is damaged: put a copy of the file back"
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		why = "it is encrypted with another key: put that key back"
	}
	return fmt.Errorf("the state of this browser in %s cannot be read and was kept (%w); %s, or begin afresh "+
		"with “clank browser --browser-profile %s reset-profile”", file, err, why, filepath.Base(filepath.Dir(file)))
}

func packOf(dir string) string { return filepath.Join(filepath.Dir(dir), PackName) }

// removeRemains removes what an interrupted packing or unpacking has left.
func removeRemains(dir string) error {
	halves, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "."+PackName+"*")) // ErrBadPattern cannot occur
	for _, path := range append(halves, dir+packedSuffix, dir+unpackedSuffix) {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove what is left of an earlier state: %w", err)
		}
	}
	return nil
}

// writePack replaces the pack of a directory.
func writePack(ctx context.Context, dir, key string) error {
	to, err := age.NewScryptRecipient(key)
	if err != nil {
		return err
	}
	to.SetWorkFactor(packWorkFactor)
	file, err := atomicfile.Create(packOf(dir))
	if err != nil {
		return err
	}
	defer func() { _ = file.Cleanup() }()
	sealed, err := age.Encrypt(file, to)
	if err != nil {
		return err
	}
	compressed, err := gzip.NewWriterLevel(sealed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	if err := addTree(ctx, archive, dir); err != nil {
		return err
	}
	for _, w := range []io.Closer{archive, compressed, sealed} {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return file.CloseAtomicallyReplace()
}

// addTree adds the files and folders of a directory. It skips Chromium's links and sockets, which matter only while it
// runs.
func addTree(ctx context.Context, archive *tar.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil || name == "." {
			return err
		}
		if IsRecreated(name) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return nil
		}
		return addFile(archive, root, name)
	})
}

func addFile(archive *tar.Writer, root *os.Root, name string) error {
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Typeflag: tar.TypeReg, Size: info.Size()}
	if info.IsDir() {
		h.Typeflag, h.Size, h.Name = tar.TypeDir, 0, name+"/"
	}
	if err := archive.WriteHeader(h); err != nil || info.IsDir() {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}

// readPack decrypts and extracts a pack into a new directory.
func readPack(ctx context.Context, pack io.Reader, into string, keys []string) error {
	var identities []age.Identity
	for _, key := range keys {
		identity, err := age.NewScryptIdentity(key)
		if err != nil {
			return err
		}
		identities = append(identities, identity)
	}
	opened, err := age.Decrypt(pack, identities...)
	if err != nil {
		return err
	}
	return unpack(ctx, opened, into)
}

// unpack extracts a compressed archive into a new directory, and writes nothing outside it.
func unpack(ctx context.Context, compressed io.Reader, into string) error {
	plain, err := gzip.NewReader(compressed)
	if err != nil {
		return err
	}
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	archive := tar.NewReader(plain)
	for {
		h, err := archive.Next()
		if err = cmp.Or(err, context.Cause(ctx)); errors.Is(err, io.EOF) {
			return cmp.Or(readEnd(plain), syncBelow(root))
		}
		if err == nil {
			err = extract(root, h, archive)
		}
		if err != nil {
			return err
		}
	}
}

// syncBelow flushes a directory to disk before it counts as newer than its pack.
func syncBelow(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return syncFiles(dir)
}

// readEnd returns nil at the end of the data; only there age and gzip verify that it is complete.
func readEnd(r io.Reader) error {
	_, err := io.ReadFull(r, make([]byte, 1))
	if errors.Is(err, io.EOF) {
		return nil
	}
	return cmp.Or(err, errors.New("unexpected data after its end"))
}

// extract writes one entry of an archive. Sparse files are refused: their size is not bounded by that of the archive.
func extract(root *os.Root, h *tar.Header, from io.Reader) error {
	mode := fs.FileMode(h.Mode).Perm() | 0o600 //nolint:gosec // nine bits
	sparse := false
	for key := range h.PAXRecords {
		sparse = sparse || strings.HasPrefix(key, "GNU.sparse.")
	}
	switch {
	case h.Typeflag == tar.TypeDir:
		return root.Mkdir(strings.TrimSuffix(h.Name, "/"), mode|0o700)
	case h.Typeflag != tar.TypeReg || sparse:
		return fmt.Errorf("%q is neither a whole file nor a folder", h.Name)
	}
	file, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
