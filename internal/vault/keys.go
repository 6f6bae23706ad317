package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// keyPrefix is the prefix of entries that hold service keys; names of logins cannot start with it.
const keyPrefix = "key "

func (e sealedEntry) isServiceKey() bool { return strings.HasPrefix(e.Name, keyPrefix) }

// SetServiceKey stores the key of a service, such as a model vendor, replacing one of the same name. An empty value
// deletes it.
func (v *Vault) SetServiceKey(ctx context.Context, name, value string) error {
	if value == "" {
		if err := v.Remove(ctx, keyPrefix+name); !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	}
	if err := checkSecret(value); err != nil {
		return fmt.Errorf("key %s: %w", name, err)
	}
	v.scrub.Add(name, value)
	return v.update(ctx, func(f *vaultFile, k vaultKey) error {
		return f.encryptEntry(k, keyPrefix+name, nil, entryContents{Password: value})
	})
}

// ServiceKeys returns the keys of services by name. [Vault.Scrub] replaces them from then on.
func (v *Vault) ServiceKeys(ctx context.Context) (map[string]string, error) {
	f, k, _, err := v.load(ctx)
	if err != nil {
		return nil, err
	}
	keys := make(map[string]string)
	for _, e := range f.Entries {
		if !e.isServiceKey() {
			continue
		}
		c, err := f.decryptEntry(k, e)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(e.Name, keyPrefix)
		v.scrub.Add(name, c.Password)
		keys[name] = c.Password
	}
	return keys, nil
}

// logins returns the entries that are not service keys.
func (f *vaultFile) logins() []sealedEntry {
	return slices.DeleteFunc(slices.Clone(f.Entries), sealedEntry.isServiceKey)
}
