package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newHome(t *testing.T) *home {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "home")
	h, err := openHome(func(name string) string {
		if name == "CLANK_HOME" {
			return dir
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.release)
	return h
}

func TestHomeIsMadeForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	st, err := os.Stat(newHome(t).dir)
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
	_, err := openHome(func(string) string { return filepath.Join(file, "home") })
	if err == nil || !strings.Contains(err.Error(), "CLANK_HOME") {
		t.Errorf("error = %v, want one that names CLANK_HOME", err)
	}
}

func TestSecondClaimTellsWhoHoldsTheHome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := h.claim(); err != nil {
		t.Fatal(err)
	}
	other := &home{dir: h.dir}
	err := other.claim()
	if !errors.Is(err, errClaimed) || !strings.Contains(err.Error(), "process ") {
		t.Fatalf("second claim = %v, want errClaimed with the process", err)
	}
	h.release()
	if err := other.claim(); err != nil {
		t.Errorf("claim after release: %v", err)
	}
	other.release()
}

func TestAddressOfADeadServerDoesNotCount(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, found, err := h.server(); found || err != nil {
		t.Fatalf("server of a new home = %v, %v", found, err)
	}
	if err := h.claim(); err != nil {
		t.Fatal(err)
	}
	if err := h.publish("http://127.0.0.1:1", "secret"); err != nil {
		t.Fatal(err)
	}
	other := &home{dir: h.dir}
	a, found, err := other.server()
	if err != nil || !found || a.URL != "http://127.0.0.1:1" || a.Secret != "secret" {
		t.Fatalf("server = %+v, %v, %v", a, found, err)
	}
	h.release()
	if _, found, _ := other.server(); found {
		t.Error("the address counts although nobody owns the home")
	}
	if err := errors.Join(h.unpublish(), h.unpublish()); err != nil {
		t.Errorf("unpublish: %v", err)
	}
}
