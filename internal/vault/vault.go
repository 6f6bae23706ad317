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
	Path    string // of its file, which need not be there yet
	KeyFile string // where the key lies if there is no keyring
	Keyring Keyring
	// Key is the key itself, 32 bytes in base64, if the environment gives it; then nowhere else is looked. KeySource
	// says to people where it came from.
	Key, KeySource string
}

// Vault reads and changes a vault. It holds no secret but those that were revealed at some time, for [Vault.Scrub]; others may
// change the file meanwhile, from this process or another. It is safe for concurrent use.
type Vault struct {
	opts  Options
	scrub Scrubber

	mu sync.Mutex // one change at a time within the process
}

// Open makes a Vault. It reads the file if there is one, so that a wrong key or a damaged file is known at once;
// nothing is made before the first entry.
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

// Revealed returns the secrets that pages were given, in this run or before. [Vault.Scrub] knows them.
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

// noteRevealed has the entry's secret known after a restart, too: a page that is given it may show it then.
func (v *Vault) noteRevealed(ctx context.Context, name string) error {
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
			Name: e.Name, Origins: e.Origins, Username: c.Username, HasPassword: c.Password != "", HasTOTP: c.TOTP != "", Users: c.Users, Roles: c.Roles,
		}
		if code, err := parseTOTP(c.TOTP); entry.HasTOTP && err == nil {
			entry.Digits = code.digits
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// Put keeps an entry, in place of the one of that name. The first one makes the vault and its key.
func (v *Vault) Put(ctx context.Context, n NewEntry) error {
	n.Origins = slices.Clone(n.Origins)
	if err := n.check(); err != nil {
		return err
	}
	return v.update(ctx, func(f *vaultFile, k vaultKey) error {
		return f.encryptEntry(k, n.Name, n.Origins, entryContents{Username: n.Username, Password: n.Password, TOTP: n.TOTP, Users: n.Users, Roles: n.Roles})
	})
}

// Remove forgets an entry. The error wraps ErrNotFound if there is none of that name.
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

// ForgetUser takes a person off the entries that they may use, and returns the names of those. An entry that was for
// nobody else is removed.
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

// update changes the file while nobody else does.
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

// givenOrNewKey returns the one that was given, or a new one that is kept.
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

// Rekey encrypts everything anew with a new key. If it is broken off, either the old or the new key fits, and both
// are kept until the file is known to be on the disk. A key of the environment is not ours to change: the error says what to do.
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
		return fmt.Errorf("the key comes from %s, and is not kept by clank: write it into %s (chmod 600), unset the variable, and rekey again", v.keySource(), v.opts.KeyFile)
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
		return fmt.Errorf("%w; the old and the new key are both kept: rekey again, which also tells whether the disk takes it now", err)
	}
	if err := v.dropKey(ctx, f.ID, old.id); err != nil {
		return fmt.Errorf("the vault has a new key, but the old one could not be removed: %w; remove it by hand, or leave it: nothing is encrypted with it", err)
	}
	return nil
}

// Status describes a vault to its operator.
type Status struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
	// Key says where the key is: environment, keyring or file; "" as long as there is none.
	Key string `json:"key"`
	// KeyFile is the file that holds it, or would.
	KeyFile string `json:"keyFile"`
	// KeyringError says why the keyring is not used; "" if it is.
	KeyringError string `json:"keyringError,omitempty"`
}

// Status finds out where the vault and its key are, and whether they fit. What is known is returned with the error too.
func (v *Vault) Status(ctx context.Context) (Status, error) { return Inspect(ctx, v.opts) }

// Inspect returns the status of a vault that need not be one that can be opened.
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

// Reveal gives the secret of an entry away, for a page of this origin, spelled as a page's location.origin has it.
// From now on [Vault.Scrub] knows it. The error wraps ErrNotFound or ErrWrongOrigin where one of them applies.
func (v *Vault) Reveal(ctx context.Context, name, origin string) (Secret, error) {
	f, k, _, err := v.load(ctx)
	if err != nil {
		return Secret{}, err
	}
	i := f.index(name)
	if i < 0 {
		return Secret{}, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	e := f.Entries[i]
	if !slices.Contains(e.Origins, origin) {
		return Secret{}, fmt.Errorf("%w: %s is for %s, and the page is %s", ErrWrongOrigin, name, strings.Join(e.Origins, ", "), origin)
	}
	c, err := f.decryptEntry(k, e)
	if err != nil {
		return Secret{}, err
	}
	if !c.Revealed {
		if err := v.noteRevealed(ctx, name); err != nil {
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

// Scrub replaces every secret that was revealed by "[secret NAME]", in the spellings that pages, forms, JSON, HTML
// and base64 give it. It costs one look at a pointer as long as nothing was revealed, and one pass over s after that.
func (v *Vault) Scrub(s string) string { return v.scrub.Text(s) }

// ScrubJSON scrubs a JSON text as [Vault.Scrub] does: inside its strings, whose spellings it knows. It returns
// data itself if there is nothing to replace.
func (v *Vault) ScrubJSON(data []byte) []byte { return v.scrub.JSON(data) }
