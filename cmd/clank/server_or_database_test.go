package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/sessions"
)

func TestWithoutAServerTheDatabaseIsRead(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	var db *sqlite.DB
	err := withServerOrDatabase(t.Context(), e, nil, func(d *sqlite.DB) error {
		db = d
		_, err := d.Sessions(t.Context(), sessions.SessionQuery{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sessions(context.Background(), sessions.SessionQuery{}); err == nil {
		t.Error("the database was left open")
	}
	why := errors.New("why")
	if err := withServerOrDatabase(t.Context(), e, nil, func(*sqlite.DB) error { return why }); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, err := requireServer(e, "it is needed for this"); err == nil || !strings.Contains(err.Error(), "it is needed for this") {
		t.Errorf("a server was found: %v", err)
	}
}

func TestTheServerThatOwnsTheHomeIsAskedWithItsSecret(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked with %q", r.Header.Get("Authorization"))
		}
		_, _ = w.Write([]byte("[]"))
	}))
	defer srv.Close()
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.Claim(), h.PublishAddress(srv.URL, "secret")); err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	asked := false
	err = withServerOrDatabase(t.Context(), e, func(c *api.Client) error {
		asked = true
		_, err := c.Sessions(t.Context())
		return err
	}, nil)
	if err != nil || !asked {
		t.Errorf("asked %v, %v", asked, err)
	}
	if _, err := requireServer(e, ""); err != nil {
		t.Error(err)
	}
}
