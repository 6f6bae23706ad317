package vault

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"clank/internal/test/check"
)

func FuzzAVaultFileIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"id":"a","entries":[{"name":"shop","origins":["https://shop.test"],"data":"AAAA"}]}`,
		`{"version":1,"id":"a","entries":[]} more`, `{"version":2}`, `{"unknown":1}`, `null`, ``,
		`{"entries":[{"data":"no base64"}]}`,
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "vault.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		check.Must(t, os.WriteFile(path, data, 0o600))
		file, found, err := readFile(path)
		switch {
		case !found:
			t.Errorf("%q is not found", data)
		case err == nil && file.Version != fileVersion:
			t.Errorf("%q is of version %d", data, file.Version)
		case err != nil && errors.Is(err, ErrDamaged) && file.ID != "":
			t.Errorf("%q is damaged, and read as %+v", data, file)
		case err != nil:
			return
		}
		for _, e := range file.Entries {
			if _, err := decrypt(vaultKey{}, e.Data, nil); err == nil {
				t.Errorf("%q is decrypted with another key", e.Data)
			}
		}
	})
}
