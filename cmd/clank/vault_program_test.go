package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// runVaultProgram runs clank vault with a line on stdin.
func runVaultProgram(t *testing.T, environ []string, stdin string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"vault"}, args...)...)
	cmd.Env, cmd.Stdin = environ, strings.NewReader(stdin)
	both, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(both), cmd.ProcessState.ExitCode()
}

func TestTheVaultIsWorkedFromTheTerminalAndShowsNoSecret(t *testing.T) {
	t.Parallel()
	_, environ := newTestHome(t)
	environ = append(environ, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
	for _, step := range []struct {
		stdin, args string
		code        int
		says        string
	}{
		{"", "add shop", 2, "--origin"},
		{"hunter2!\nJBSWY3DPEHPK3PXP\n", "add shop --origin https://bücher.example --user ada --totp", 0, "vault.key"},
		{"", "show nosuch", 1, "no such entry"},
		{"", "test shop", 0, "opens for https://xn--bcher-kva.example"},
		{"", "status", 0, "keyring  not used"},
	} {
		out, code := runVaultProgram(t, environ, step.stdin, strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(out, step.says) {
			t.Errorf("vault %s: exit code %d, want %d, and %q in\n%s", step.args, code, step.code, step.says, out)
		}
		if strings.Contains(out, "hunter2") || strings.Contains(out, "JBSW") {
			t.Errorf("vault %s shows the secret: %s", step.args, out)
		}
	}
}

func TestAVaultThatCannotBeOpenedSaysSoAndStopsNothingElse(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, "CLANK_VAULT_KEYRING=off")
	if out, code := runVaultProgram(t, environ, "hunter2!\n", "add", "shop", "--origin", "https://shop.example"); code != 0 {
		t.Fatal(out)
	}
	if err := os.Remove(home + "/vault.key"); err != nil {
		t.Fatal(err)
	}
	if out, code := runVaultProgram(t, environ, "", "status"); code != 1 || !strings.Contains(out, "the key of the vault is not there") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := runVaultProgram(t, environ, "hunter3!\n", "add", "other", "--origin", "https://shop.example"); code != 1 || !strings.Contains(out, "not there") {
		t.Errorf("an entry was added under another key: %d %s", code, out)
	}
	server := startServer(t, home, environ)
	awaitOutput(t, server.stderr, "the vault cannot be used")
}
