package vault

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// keySize is the key size of AES-256.
const keySize = 32

// vaultKey is a key and its id, by which a vault file refers to it.
type vaultKey struct {
	bytes [keySize]byte
	id    string
}

func newKey() vaultKey {
	var k vaultKey
	_, _ = rand.Read(k.bytes[:]) // never fails, see crypto/rand
	k.id = keyID(k.bytes)
	return k
}

// keyID returns an id for a key that reveals nothing about it.
func keyID(b [keySize]byte) string {
	sum := sha256.Sum256(append([]byte("clank vault key\x00"), b[:]...))
	return hex.EncodeToString(sum[:8])
}

func (k vaultKey) text() string { return base64.StdEncoding.EncodeToString(k.bytes[:]) }

// parseKey parses 32 bytes in base64 or hexadecimal. The error does not contain them.
func parseKey(text string) (vaultKey, error) {
	text = strings.TrimSpace(text)
	var k vaultKey
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != keySize {
		raw, err = hex.DecodeString(text)
	}
	if err != nil || len(raw) != keySize {
		return k, fmt.Errorf("a key is %d bytes in base64 (openssl rand -base64 %d makes one)", keySize, keySize)
	}
	copy(k.bytes[:], raw)
	k.id = keyID(k.bytes)
	return k, nil
}

// Keyring is a keyring of an operating system. Get returns ErrNotInKeyring if there is no item of that name; other
// errors mean that no keyring can be used.
type Keyring interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, secret string) error
	Delete(ctx context.Context, name string) error
}

// ErrNotInKeyring means that a [Keyring] has no item of that name.
var ErrNotInKeyring = errors.New("the keyring has nothing of that name")

// keyPlace is where a key is stored.
type keyPlace string

const (
	placeGiven   keyPlace = "environment"
	placeKeyring keyPlace = "keyring"
	placeFile    keyPlace = "file"
)

// keyName returns the name of a vault's key in a keyring.
func keyName(vaultID, keyID string) string { return "vault " + vaultID + " key " + keyID }

// findKey returns the key that a vault file refers to. If it is not found the error is ErrNoKey, or ErrWrongKey if
// only other keys are found.
func (v *Vault) findKey(ctx context.Context, vaultID, id string) (vaultKey, keyPlace, error) {
	if v.opts.Key != "" {
		k, err := parseKey(v.opts.Key)
		if err != nil {
			return vaultKey{}, placeGiven, fmt.Errorf("%s: %w", v.keySource(), err)
		}
		if k.id != id {
			return vaultKey{}, placeGiven, fmt.Errorf("%w: %s holds another one than %s was written with", ErrWrongKey,
				v.keySource(), v.opts.Path)
		}
		return k, placeGiven, nil
	}
	ringErr := errors.New("none was looked in")
	if v.opts.Keyring != nil {
		text, err := v.opts.Keyring.Get(ctx, keyName(vaultID, id))
		if err == nil {
			k, err := parseKey(text)
			return k, placeKeyring, err
		}
		ringErr = err
	}
	keys, err := readKeys(v.opts.KeyFile, rekeyHint)
	if err != nil {
		return vaultKey{}, placeFile, err
	}
	if i := slices.IndexFunc(keys, func(k vaultKey) bool { return k.id == id }); i >= 0 {
		return keys[i], placeFile, nil
	}
	if len(keys) > 0 {
		return vaultKey{}, placeFile, fmt.Errorf("%w: %s holds another one than %s was written with", ErrWrongKey,
			v.opts.KeyFile, v.opts.Path)
	}
	return vaultKey{}, "", fmt.Errorf("%w: it is neither in the keyring (%w) nor in %s; put it back, or give it with "+
		"CLANK_VAULT_KEY_FILE", ErrNoKey, ringErr, v.opts.KeyFile)
}

func (v *Vault) keySource() string {
	return cmp.Or(v.opts.KeySource, "the key that was given")
}

// storeKey stores a new key in the keyring or, if there is none, in the file.
func (v *Vault) storeKey(ctx context.Context, vaultID string, k vaultKey) error {
	if v.opts.Keyring != nil && v.opts.Keyring.Set(ctx, keyName(vaultID, k.id), k.text()) == nil {
		return nil
	}
	keys, err := readKeys(v.opts.KeyFile, rekeyHint)
	if err != nil {
		return err
	}
	return writeKeys(v.opts.KeyFile, append(keys, k))
}

// dropKey deletes a key that is no longer used.
func (v *Vault) dropKey(ctx context.Context, vaultID, id string) error {
	if v.opts.Keyring != nil {
		_ = v.opts.Keyring.Delete(ctx, keyName(vaultID, id)) // it may not be there
	}
	keys, err := readKeys(v.opts.KeyFile, rekeyHint)
	if err != nil || len(keys) == 0 {
		return err
	}
	return writeKeys(v.opts.KeyFile, slices.DeleteFunc(keys, func(k vaultKey) bool { return k.id == id }))
}

// rekeyHint is what to do if others may have read the key.
const rekeyHint = ", and then change it with \"clank vault rekey\""

// readKeys reads a file of keys, one per line. A missing file contains none; one that others may read is refused,
// with the hint.
func readKeys(path, hint string) ([]vaultKey, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key in %s: %w", path, err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // Windows has no such bits
		return nil, fmt.Errorf("the key in %s can be read by others: chmod 600 it%s", path, hint)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key in %s: %w", path, err)
	}
	var keys []vaultKey
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		k, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("read the key in %s: %w", path, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// writeKeys replaces a file of keys, or removes it if there are none.
func writeKeys(path string, keys []vaultKey) error {
	if len(keys) == 0 {
		err := beforeStep(stepRemove, path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the old key: %w", err)
		}
		return nil
	}
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.text() + "\n")
	}
	if err := replaceFile(path, []byte(b.String())); err != nil {
		return fmt.Errorf("write the key in %s: %w", path, err)
	}
	return nil
}
