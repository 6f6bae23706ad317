package main

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/vault"
)

// failingKeyring is a keyring that cannot be used.
type failingKeyring struct{}

var errNoKeyring = errors.New("no bus")

func (failingKeyring) Get(context.Context, string) (string, error) { return "", errNoKeyring }
func (failingKeyring) Set(context.Context, string, string) error   { return errNoKeyring }
func (failingKeyring) Delete(context.Context, string) error        { return errNoKeyring }

// runVault carries out a command line with this on stdin. The exit code is that of the program: 2 for wrong use.
func runVault(t *testing.T, opts vault.Options, stdin, line string) (out string, code int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(file, []byte(stdin), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var both strings.Builder
	c := vaultCommand{Stdin: in, Stdout: &both, Stderr: &both, VaultOptions: func() (vault.Options, error) { return opts, nil }}
	err = c.runArgs(t.Context(), strings.Fields(line))
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		code = 2
	case err != nil:
		code = 1
	}
	if err != nil {
		both.WriteString(err.Error())
	}
	return both.String(), code
}

func TestVaultCommandShowsNoSecret(t *testing.T) {
	dir := t.TempDir()
	opts := vault.Options{Path: filepath.Join(dir, "vault.json"), KeyFile: filepath.Join(dir, "vault.key"), Keyring: failingKeyring{}}
	for _, step := range []struct {
		stdin, line string
		code        int
		says        string
	}{
		{"", "status", 0, "made with the first entry"},
		{"", "", 2, "say what to do"},
		{"", "add", 2, "name the entry: clank vault add NAME"},
		{"", "list shop", 2, `unexpected argument "shop"`},
		{"", "list", 0, "the vault is empty"},
		{"", "add shop", 2, "--origin"},
		{"hunter2!\n", "add shop --origin http://shop.example", 2, "http"},
		{"", "add shop --origin https://shop.example", 1, "nothing came on stdin"},
		{"abc\n", "add shop --origin https://shop.example", 1, "fewer than 4"},
		{"", "add shop hunter2! --origin https://shop.example", 2, "unexpected argument"},
		{"hunter2!\nJBSWY3DPEHPK3PXP\n", "add shop --origin https://bücher.example --user ada --for-user 42 --totp", 0, "vault.key"},
		{"JBSWY3DPEHPK3PXP", "add code --origin https://shop.example --no-password --for-role 7", 0, "code is kept for https://shop.example"},
		{"", "list", 0, "xn--bcher-kva.example (bücher.example)"},
		{"", "list", 0, "terminal, dashboard, role 7"},
		{"", "list --json", 0, `"hasTOTP": true`},
		{"", "show shop", 0, "user 42"},
		{"", "show code --json", 0, `"hasPassword": false`},
		{"", "show nosuch", 1, "no such entry"},
		{"", "test shop", 0, "opens for https://xn--bcher-kva.example"},
		{"", "test shop --origin https://evil.example", 1, "not for this page"},
		{"", "status", 0, "keyring  not used: no bus"},
		{"", "status --json", 0, `"entries": 2`},
		{"", "rekey", 0, "2 entries"},
		{"", "test shop", 0, "opens"},
		{"", "remove shop", 0, "forgotten"},
		{"", "remove shop", 1, "no such entry"},
		{"", "list", 0, "code"},
		{"", "nonsense", 2, "no command"},
		{"", "--help", 1, "help was shown"},
	} {
		out, code := runVault(t, opts, step.stdin, step.line)
		if code != step.code || !strings.Contains(out, step.says) {
			t.Errorf("vault %s: exit code %d, want %d, and %q in\n%s", step.line, code, step.code, step.says, out)
		}
		if step.code != 2 && (strings.Contains(out, "hunter2") || strings.Contains(out, "JBSW")) {
			t.Errorf("vault %s shows the secret: %s", step.line, out)
		}
	}
}

func TestTheStatusSaysWhereTheKeyOfTheEnvironmentCameFrom(t *testing.T) {
	dir := t.TempDir()
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	opts := vault.Options{Path: filepath.Join(dir, "vault.json"), KeyFile: filepath.Join(dir, "vault.key"), Key: key, KeySource: "THE_KEY"}
	if out, code := runVault(t, opts, "pass-word", "add shop --origin https://shop.example"); code != 0 {
		t.Fatal(out)
	}
	out, code := runVault(t, opts, "", "status")
	if code != 0 || !strings.Contains(out, "key      THE_KEY") || strings.Contains(out, key) {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestAVaultThatCannotBeFoundIsAnErrorOnce(t *testing.T) {
	want := errors.New("no home")
	c := vaultCommand{Stdout: os.Stdout, Stderr: os.Stderr, VaultOptions: func() (vault.Options, error) { return vault.Options{}, want }}
	if err := c.runArgs(t.Context(), []string{"list"}); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if err := c.runArgs(t.Context(), []string{"nonsense"}); errors.Is(err, want) {
		t.Errorf("got %v before the command line was read", err)
	}
}
