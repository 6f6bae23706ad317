package server

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/internal/vault"
	"clank/sessions"
)

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
		if got := mayUseLogin(e, c.origin); got != c.want {
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
	k := VaultLogins{Vault: v, Windows: &browsermgr.Manager{}}
	stranger := sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "43"}}
	if list, err := k.List(t.Context(), stranger); err != nil || len(list) != 0 {
		t.Errorf("a stranger is offered %v, %v", list, err)
	}
	if _, err := k.Fill(t.Context(), sessions.Session{ID: "s"}, stranger, "shop", "", false); !errors.Is(err, vault.ErrNotFound) {
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
	if _, err := k.Fill(t.Context(), sessions.Session{ID: "s"}, friend, "shop", "https://shop.example", false); err == nil || !strings.Contains(err.Error(), "no page is open") {
		t.Errorf("without a page: %v", err)
	}
}
