package vault

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"clank/internal/atomicfile"
)

// fileVersion is incremented when the file format becomes incompatible.
const fileVersion = 1

// vaultFile is the content of the vault file.
type vaultFile struct {
	Version int           `json:"version"`
	ID      string        `json:"id"`  // of this vault
	Key     string        `json:"key"` // id of the key that encrypts it
	Entries []sealedEntry `json:"entries"`
	Seal    []byte        `json:"seal"` // authenticates all fields above
}

// sealedEntry is an encrypted entry.
type sealedEntry struct {
	Name    string   `json:"name"`
	Origins []string `json:"origins"`
	Data    []byte   `json:"data"` // nonce and ciphertext of contents
}

// entryContents is the encrypted part of an entry.
type entryContents struct {
	Username string   `json:"username"`
	Password string   `json:"password,omitempty"`
	TOTP     string   `json:"totp,omitempty"`
	Users    []string `json:"users,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	Revealed bool     `json:"revealed,omitempty"` // to a page, which may still show it
}

// readFile reads a vault's file; found is false if there is none.
func readFile(path string) (f vaultFile, found bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return vaultFile{}, false, nil
	}
	if err != nil {
		return vaultFile{}, false, fmt.Errorf("read the vault: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return vaultFile{}, true, fmt.Errorf("%w: %s cannot be read (%w); put a copy of it back", ErrDamaged, path, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return vaultFile{}, true, fmt.Errorf("%w: something follows its end in %s; put a copy of it back", ErrDamaged, path)
	}
	if f.Version != fileVersion {
		return vaultFile{}, true, fmt.Errorf("the vault in %s is of version %d; this program knows version %d", path,
			f.Version, fileVersion)
	}
	return f, true, nil
}

// beforeStep is called before each step that changes the disk, with its path. Tests use it to make a step fail or to
// end the program.
var beforeStep = func(_, _ string) error { return nil }

// Steps that change the disk. If the last one fails, the file has already been replaced.
const (
	stepWrite  = "write"
	stepRename = "rename"
	stepRemove = "remove"
	stepSync   = "sync"
)

// replaceFile writes a file that only its owner may read, atomically. After an error the file is either the old or
// the new one, and a power failure may restore the old one.
func replaceFile(path string, data []byte) error {
	if err := beforeStep(stepWrite, path); err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := beforeStep(stepRename, path); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	if err := syncFolder(path); err != nil {
		return fmt.Errorf("%s is written, but its folder could not be synced, so that a power cut may undo it: %w", path, err)
	}
	return nil
}

// syncFolder makes a renamed file durable.
func syncFolder(path string) error {
	if err := beforeStep(stepSync, path); err != nil || runtime.GOOS == "windows" { // folders cannot be synced on Windows
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (k vaultKey) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.bytes[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// associatedData returns the additional authenticated data of an entry.
func (f *vaultFile) associatedData(e sealedEntry) ([]byte, error) {
	return json.Marshal([]any{"clank vault entry", fileVersion, f.ID, e.Name, e.Origins})
}

// sealedBytes returns the data that the seal authenticates.
func (f *vaultFile) sealedBytes() ([]byte, error) {
	return json.Marshal([]any{"clank vault", fileVersion, f.ID, f.Key, f.Entries})
}

// encrypt returns nonce and ciphertext.
func encrypt(k vaultKey, plain, associated []byte) ([]byte, error) {
	gcm, err := k.aead()
	if err != nil {
		return nil, err
	}
	return gcm.Seal(nil, nil, plain, associated), nil //nolint:gosec // the AEAD generates a random nonce itself
}

func decrypt(k vaultKey, data, associated []byte) ([]byte, error) {
	gcm, err := k.aead()
	if err != nil {
		return nil, err
	}
	return gcm.Open(nil, nil, data, associated)
}

// index returns the index of the named entry; -1 if there is none.
func (f *vaultFile) index(name string) int {
	return slices.IndexFunc(f.Entries, func(e sealedEntry) bool { return e.Name == name })
}

// encryptEntry encrypts an entry and stores it in the file, replacing one of the same name.
func (f *vaultFile) encryptEntry(k vaultKey, name string, origins []string, c entryContents) error {
	e := sealedEntry{Name: name, Origins: origins}
	plain, err := json.Marshal(c)
	if err != nil {
		return err
	}
	associated, err := f.associatedData(e)
	if err != nil {
		return err
	}
	if e.Data, err = encrypt(k, plain, associated); err != nil {
		return err
	}
	if i := f.index(name); i >= 0 {
		f.Entries[i] = e
	} else {
		f.Entries = append(f.Entries, e)
	}
	return nil
}

func (f *vaultFile) decryptEntry(k vaultKey, e sealedEntry) (entryContents, error) {
	var c entryContents
	associated, err := f.associatedData(e)
	if err != nil {
		return c, err
	}
	plain, err := decrypt(k, e.Data, associated)
	if err == nil {
		err = json.Unmarshal(plain, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%w: entry %s is not as it was written; put a copy of the file back", ErrDamaged, e.Name)
	}
	return c, nil
}

// checkSeal verifies that the list is complete and unchanged.
func (f *vaultFile) checkSeal(k vaultKey) error {
	sealing, err := f.sealedBytes()
	if err != nil {
		return err
	}
	if _, err := decrypt(k, f.Seal, sealing); err != nil {
		return fmt.Errorf("%w: its list of entries is not as it was written; put a copy of the file back", ErrDamaged)
	}
	return nil
}

// write seals the file and writes it to path.
func (f *vaultFile) write(path string, k vaultKey) error {
	f.Version, f.Key = fileVersion, k.id
	sealing, err := f.sealedBytes()
	if err != nil {
		return err
	}
	if f.Seal, err = encrypt(k, nil, sealing); err != nil {
		return err
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = replaceFile(path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the vault: %w", err)
	}
	return nil
}
