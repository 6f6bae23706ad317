package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/server"
)

func newHome(t *testing.T) *server.Home {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "home")
	h, err := server.OpenHome(func(name string) string {
		if name == "CLANK_HOME" {
			return dir
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

func TestHomeIsMadeForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	st, err := os.Stat(newHome(t).Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := st.Mode().Perm(), os.FileMode(0o700); got != want {
		t.Errorf("mode = %v, want %v", got, want)
	}
}

func TestHomeThatCannotBeMadeNamesTheWayOut(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := server.OpenHome(func(string) string { return filepath.Join(file, "home") })
	if err == nil || !strings.Contains(err.Error(), "CLANK_HOME") {
		t.Errorf("error = %v, want one that names CLANK_HOME", err)
	}
}

func TestSecondClaimTellsWhoHoldsTheHome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := h.Claim(); err != nil {
		t.Fatal(err)
	}
	other := &server.Home{Dir: h.Dir}
	err := other.Claim()
	if !errors.Is(err, server.ErrHomeClaimed) || !strings.Contains(err.Error(), "process ") {
		t.Fatalf("second claim = %v, want ErrClaimed with the process", err)
	}
	h.Release()
	if err := other.Claim(); err != nil {
		t.Errorf("claim after release: %v", err)
	}
	other.Release()
}

func TestAddressOfADeadServerDoesNotCount(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, found, err := h.RunningServer(); found || err != nil {
		t.Fatalf("server of a new home = %v, %v", found, err)
	}
	if err := h.Claim(); err != nil {
		t.Fatal(err)
	}
	if err := h.PublishAddress("http://127.0.0.1:1", "secret"); err != nil {
		t.Fatal(err)
	}
	other := &server.Home{Dir: h.Dir}
	a, found, err := other.RunningServer()
	if err != nil || !found || a.URL != "http://127.0.0.1:1" || a.Secret != "secret" {
		t.Fatalf("server = %+v, %v, %v", a, found, err)
	}
	h.Release()
	if _, found, _ := other.RunningServer(); found {
		t.Error("the address counts although nobody owns the home")
	}
	if err := errors.Join(h.WithdrawAddress(), h.WithdrawAddress()); err != nil {
		t.Errorf("unpublish: %v", err)
	}
}
