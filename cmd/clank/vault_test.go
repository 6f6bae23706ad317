package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/sessions"
	"clank/vault"
)

// vaulting runs clank vault with a line on stdin.
func vaulting(t *testing.T, environ []string, stdin string, args ...string) (out string, code int) {
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
	_, environ := newPlace(t)
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
		out, code := vaulting(t, environ, step.stdin, strings.Fields(step.args)...)
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
	home, environ := newPlace(t)
	environ = append(environ, "CLANK_VAULT_KEYRING=off")
	if out, code := vaulting(t, environ, "hunter2!\n", "add", "shop", "--origin", "https://shop.example"); code != 0 {
		t.Fatal(out)
	}
	if err := os.Remove(home + "/vault.key"); err != nil {
		t.Fatal(err)
	}
	if out, code := vaulting(t, environ, "", "status"); code != 1 || !strings.Contains(out, "the key of the vault is not there") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := vaulting(t, environ, "hunter3!\n", "add", "other", "--origin", "https://shop.example"); code != 1 || !strings.Contains(out, "not there") {
		t.Errorf("an entry was added under another key: %d %s", code, out)
	}
	server := serving(t, home, environ)
	await(t, server.stderr, "the vault cannot be used")
}

func TestEntriesServeTheOperatorAndThoseTheyName(t *testing.T) {
	t.Parallel()
	e := vault.Entry{Users: []string{"42"}, Roles: []string{"r1"}}
	for _, c := range []struct {
		origin sessions.Origin
		want   bool
	}{
		{sessions.Origin{Kind: sessions.FromTerminal}, true},
		{sessions.Origin{Kind: sessions.FromDashboard}, true},
		{sessions.Origin{Kind: sessions.FromDiscord, User: "42"}, true},
		{sessions.Origin{Kind: sessions.FromDiscord, User: "43", Roles: []string{"r1"}}, true},
		{sessions.Origin{Kind: sessions.FromDiscord, User: "43"}, false},
		{sessions.Origin{Kind: sessions.FromDiscord}, false},
		{sessions.Origin{User: "", Roles: nil}, false},
	} {
		if got := mayUse(e, c.origin); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.origin, got, c.want)
		}
	}
}

func TestNobodyElseGetsALoginByItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, err := vault.Open(t.Context(), vault.Options{Path: dir + "/v", KeyFile: dir + "/k"})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Put(t.Context(), vault.NewEntry{Name: "shop", Origins: []string{"https://shop.example"}, Password: "hunter2!", TOTP: "JBSWY3DPEHPK3PXP", Users: []string{"42"}}); err != nil {
		t.Fatal(err)
	}
	k := kept{vault: v, windows: &browsermgr.Manager{}}
	stranger := sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "43"}}
	if list, err := k.List(t.Context(), stranger); err != nil || len(list) != 0 {
		t.Errorf("a stranger is offered %v, %v", list, err)
	}
	if _, err := k.Fill(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", ""); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("filled in for a stranger: %v", err)
	}
	if _, err := k.FillCode(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", "https://shop.example"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("a code for a stranger: %v", err)
	}
	if _, _, err := k.Where(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", true); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("a stranger comes to know where: %v", err)
	}
	friend := sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "42"}}
	if list, err := k.List(t.Context(), friend); err != nil || len(list) != 1 || !list[0].Code {
		t.Errorf("a friend is offered %v, %v", list, err)
	}
	if _, err := k.Fill(t.Context(), sessions.Session{ID: "s"}, friend, "shop", ""); err == nil || !strings.Contains(err.Error(), "no page is open") {
		t.Errorf("without a page: %v", err)
	}
}
