package vault

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
)

// stateKeyName is the name of the key of browser states in a keyring.
const stateKeyName = "browser state key"

// StateKeys returns the keys that may encrypt the state of people's browsers, starting with the one for new states,
// which is created if there is none. They are stored like the key of the vault with these options: derived from that
// key if the environment provides it, otherwise in the keyring or in the file browser.key beside the vault's.
func StateKeys(ctx context.Context, opts Options) ([]string, error) {
	if opts.Key != "" {
		k, err := parseKey(opts.Key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", opts.KeySource, err)
		}
		mac := hmac.New(sha256.New, k.bytes[:])
		mac.Write([]byte("clank " + stateKeyName))
		return []string{base64.StdEncoding.EncodeToString(mac.Sum(nil))}, nil
	}
	path := filepath.Join(filepath.Dir(opts.KeyFile), "browser.key")
	unlock, err := lockFile(ctx, path+".lock") // otherwise two processes might each create one
	if err != nil {
		return nil, err
	}
	defer unlock()
	keys, err := readKeys(path, "")
	if err != nil {
		return nil, err
	}
	if opts.Keyring != nil {
		text, err := opts.Keyring.Get(ctx, stateKeyName)
		if err == nil {
			k, err := parseKey(text)
			if err != nil {
				return nil, fmt.Errorf("read the %s in the keyring: %w", stateKeyName, err)
			}
			keys = append(keys, k)
		}
		k, none := newKey(), len(keys) == 0 && errors.Is(err, ErrNotInKeyring)
		if none && opts.Keyring.Set(ctx, stateKeyName, k.text()) == nil {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		keys = append(keys, newKey())
		if err := writeKeys(path, keys); err != nil {
			return nil, err
		}
	}
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = k.text()
	}
	return texts, nil
}
