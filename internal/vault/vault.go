package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Options say where a vault is. Path and KeyFile are required.
type Options struct {
	Path    string // of its file, which need not exist yet
	KeyFile string // where the key is stored if there is no keyring
	Keyring Keyring
	// Key is the key, 32 bytes in base64, if the environment provides it; then no other place is searched. KeySource
	// describes its source to people.
	Key, KeySource string
}

// Vault reads and changes a vault file. The only secrets it holds in memory are those revealed so far, for
// [Vault.Scrub]. Other processes may change the file. It is safe for concurrent use.
type Vault struct {
	opts  Options
	scrub Scrubber

	mu sync.Mutex // serializes changes within the process
}

// Open returns a Vault. If the file exists it is read, so that a wrong key or a damaged file is detected early. No
// file is created before the first entry.
func Open(ctx context.Context, opts Options) (*Vault, error) {
	if err := os.MkdirAll(filepath.Dir(opts.Path), 0o700); err != nil {
		return nil, fmt.Errorf("open the vault: %w", err)
	}
	v := &Vault{opts: opts}
	if _, err := v.Revealed(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

// Revealed returns the secrets that pages have received, in this run or earlier, for [Vault.Scrub].
func (v *Vault) Revealed(ctx context.Context) ([]Secret, error) {
	f, k, _, err := v.load(ctx)
	if err != nil {
		return nil, err
	}
	var all []Secret
	for _, e := range f.logins() {
		c, err := f.decryptEntry(k, e)
		if err != nil {
			return nil, err
		}
		if c.Revealed {
			v.scrub.Add(e.Name, c.Password)
			all = append(all, Secret{name: e.Name, username: c.Username, password: c.Password, origins: e.Origins})
		}
	}
	return all, nil
}

// storeRevealed stores that the entry's secret was revealed: the page may show it after a restart as well.
func (v *Vault) storeRevealed(ctx context.Context, name string) error {
	err := v.update(ctx, func(f *vaultFile, k vaultKey) error {
		i := f.index(name)
		if i < 0 {
			return fmt.Errorf("%w: %s", ErrNotFound, name)
		}
		c, err := f.decryptEntry(k, f.Entries[i])
		if err != nil {
			return err
		}
		c.Revealed = true
		return f.encryptEntry(k, name, f.Entries[i].Origins, c)
	})
	if err != nil {
		return fmt.Errorf("note that the login %s is used, so that it stays hidden: %w", name, err)
	}
	return nil
}

// load reads the file and its key. found is false if there is no file.
func (v *Vault) load(ctx context.Context) (f vaultFile, k vaultKey, found bool, err error) {
	f, found, err = readFile(v.opts.Path)
	if err != nil || !found {
		return f, k, found, err
	}
	if k, _, err = v.findKey(ctx, f.ID, f.Key); err != nil {
		return f, k, true, err
	}
	return f, k, true, f.checkSeal(k)
}

// Entries lists what the vault holds, by name.
func (v *Vault) Entries(ctx context.Context) ([]Entry, error) {
	f, k, _, err := v.load(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(f.Entries))
	for _, e := range f.logins() {
		c, err := f.decryptEntry(k, e)
		if err != nil {
			return nil, err
		}
		entry := Entry{
			Name: e.Name, Origins: e.Origins, Username: c.Username, HasPassword: c.Password != "", HasTOTP: c.TOTP != "",
			Users: c.Users, Roles: c.Roles,
		}
		if code, err := parseTOTP(c.TOTP); entry.HasTOTP && err == nil {
			entry.Digits = code.digits
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// Put stores an entry, replacing one of the same name. The first entry creates the vault and its key.
func (v *Vault) Put(ctx context.Context, n NewEntry) error {
	n.Origins = slices.Clone(n.Origins)
	if err := n.check(); err != nil {
		return err
	}
	return v.update(ctx, func(f *vaultFile, k vaultKey) error {
		return f.encryptEntry(k, n.Name, n.Origins, entryContents{
			Username: n.Username, Password: n.Password, TOTP: n.TOTP,
			Users: n.Users, Roles: n.Roles,
		})
	})
}

// Remove deletes an entry. The error wraps ErrNotFound if there is none of that name.
func (v *Vault) Remove(ctx context.Context, name string) error {
	return v.update(ctx, func(f *vaultFile, _ vaultKey) error {
		i := f.index(name)
		if i < 0 {
			return fmt.Errorf("%w: %s", ErrNotFound, name)
		}
		f.Entries = slices.Delete(f.Entries, i, i+1)
		return nil
	})
}

// ForgetUser removes a person from the users of all entries and returns the names of the changed entries. An entry
// without other users or roles is deleted.
func (v *Vault) ForgetUser(ctx context.Context, id string) (names []string, err error) {
	if _, err := os.Stat(v.opts.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = v.update(ctx, func(f *vaultFile, k vaultKey) error {
		for _, e := range f.logins() {
			c, err := f.decryptEntry(k, e)
			if err != nil {
				return err
			}
			if !slices.Contains(c.Users, id) {
				continue
			}
			names = append(names, e.Name)
			c.Users = slices.DeleteFunc(c.Users, func(u string) bool { return u == id })
			if len(c.Users)+len(c.Roles) > 0 {
				err = f.encryptEntry(k, e.Name, e.Origins, c)
			} else {
				i := f.index(e.Name)
				f.Entries = slices.Delete(f.Entries, i, i+1)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return names, err
}

// update changes the file under a lock.
func (v *Vault) update(ctx context.Context, do func(f *vaultFile, k vaultKey) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	unlock, err := lockFile(ctx, v.opts.Path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	f, k, found, err := v.load(ctx)
	if err != nil {
		return err
	}
	if !found {
		f.ID = rand.Text()
		if k, err = v.givenOrNewKey(ctx, f.ID); err != nil {
			return err
		}
	}
	if err := do(&f, k); err != nil {
		return err
	}
	return f.write(v.opts.Path, k)
}

// givenOrNewKey returns the configured key, or a new one after storing it.
func (v *Vault) givenOrNewKey(ctx context.Context, vaultID string) (vaultKey, error) {
	if v.opts.Key != "" {
		k, err := parseKey(v.opts.Key)
		if err != nil {
			return k, fmt.Errorf("%s: %w", v.keySource(), err)
		}
		return k, nil
	}
	k := newKey()
	return k, v.storeKey(ctx, vaultID, k)
}

// Rekey encrypts everything with a new key. Until the new file is on disk both keys are kept, so that after an
// interruption one of them fits. A key from the environment cannot be replaced: the error says what to do.
func (v *Vault) Rekey(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	unlock, err := lockFile(ctx, v.opts.Path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	f, old, found, err := v.load(ctx)
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New("there is no vault yet: its key is made with the first entry")
	case v.opts.Key != "":
		return fmt.Errorf("the key comes from %s, and is not kept by clank: write it into %s (chmod 600), unset the "+
			"variable, and rekey again", v.keySource(), v.opts.KeyFile)
	}
	k := newKey()
	fresh := vaultFile{ID: f.ID}
	for _, e := range f.Entries {
		c, err := f.decryptEntry(old, e)
		if err == nil {
			err = fresh.encryptEntry(k, e.Name, e.Origins, c)
		}
		if err != nil {
			return err
		}
	}
	if err := v.storeKey(ctx, f.ID, k); err != nil {
		return err
	}
	if err := fresh.write(v.opts.Path, k); err != nil {
		if now, _, e := readFile(v.opts.Path); e == nil && now.Key == old.id {
			return errors.Join(err, v.dropKey(ctx, f.ID, k.id))
		}
		return fmt.Errorf("%w; the old and the new key are both kept: rekey again, which also tells whether the disk "+
			"takes it now", err)
	}
	if err := v.dropKey(ctx, f.ID, old.id); err != nil {
		return fmt.Errorf("the vault has a new key, but the old one could not be removed: %w; remove it by hand, or leave "+
			"it: nothing is encrypted with it", err)
	}
	return nil
}

// Status describes a vault to its operator.
type Status struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
	// Key is where the key is stored: environment, keyring or file; "" if there is none.
	Key string `json:"key"`
	// KeyFile is the path of the key file, whether it exists or not.
	KeyFile string `json:"keyFile"`
	// KeyringError is why the keyring is not used; "" if it is.
	KeyringError string `json:"keyringError,omitempty"`
}

// Status finds out where the vault and its key are, and whether they match. It returns what is known even with an
// error.
func (v *Vault) Status(ctx context.Context) (Status, error) { return Inspect(ctx, v.opts) }

// Inspect returns the status of a vault, even if it cannot be opened.
func Inspect(ctx context.Context, opts Options) (Status, error) {
	v := &Vault{opts: opts}
	s := Status{Path: opts.Path, KeyFile: opts.KeyFile}
	if opts.Keyring != nil && opts.Key == "" {
		if _, err := opts.Keyring.Get(ctx, "probe"); err != nil && !errors.Is(err, ErrNotInKeyring) {
			s.KeyringError = err.Error()
		}
	}
	f, found, err := readFile(opts.Path)
	if err != nil || !found {
		return s, err
	}
	s.Entries = len(f.logins())
	k, where, err := v.findKey(ctx, f.ID, f.Key)
	if err != nil {
		return s, err
	}
	s.Key = string(where)
	return s, f.checkSeal(k)
}

// Reveal returns the secret of an entry for a page with this origin, in the form of location.origin. [Vault.Scrub]
// replaces it from now on. The error wraps ErrNotFound or ErrWrongOrigin if one of them applies.
func (v *Vault) Reveal(ctx context.Context, name, origin string) (Secret, error) {
	f, k, _, err := v.load(ctx)
	if err != nil {
		return Secret{}, err
	}
	i := f.index(name)
	if i < 0 || f.Entries[i].isServiceKey() {
		return Secret{}, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	e := f.Entries[i]
	if !slices.Contains(e.Origins, origin) {
		return Secret{}, fmt.Errorf("%w: %s is for %s, and the page is %s", ErrWrongOrigin, name,
			strings.Join(e.Origins, ", "), origin)
	}
	c, err := f.decryptEntry(k, e)
	if err != nil {
		return Secret{}, err
	}
	if !c.Revealed {
		if err := v.storeRevealed(ctx, name); err != nil {
			return Secret{}, err
		}
	}
	s := Secret{name: name, username: c.Username, password: c.Password, origins: e.Origins}
	if c.TOTP != "" {
		t, err := parseTOTP(c.TOTP)
		if err != nil {
			return Secret{}, err
		}
		s.totp = &t
		s.codes = func(code string) { v.scrub.Add(name+" code", code) }
	}
	v.scrub.Add(name, c.Password)
	return s, nil
}

// Scrub replaces every revealed secret by "[secret NAME]", in the spellings that pages, forms, JSON, HTML and base64
// use. Without revealed secrets it costs one pointer load, otherwise one pass over s.
func (v *Vault) Scrub(s string) string { return v.scrub.Text(s) }

// ScrubJSON is like [Vault.Scrub] for a JSON text: it replaces secrets inside strings, in their JSON spellings. It
// returns data itself if there is nothing to replace.
func (v *Vault) ScrubJSON(data []byte) []byte { return v.scrub.JSON(data) }
