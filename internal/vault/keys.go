package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// keyPrefix begins the names of entries that are keys for services and no logins: no login can have such a name.
const keyPrefix = "key "

func (e sealedEntry) isServiceKey() bool { return strings.HasPrefix(e.Name, keyPrefix) }

// SetServiceKey keeps the key for a service, such as a vendor of models, in place of the one of that name. An empty value
// forgets it.
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

// ServiceKeys returns the keys for services, by name. [Vault.Scrub] knows them from then on.
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

// logins returns the entries that are no keys for services.
func (f *vaultFile) logins() []sealedEntry {
	return slices.DeleteFunc(slices.Clone(f.Entries), sealedEntry.isServiceKey)
}
