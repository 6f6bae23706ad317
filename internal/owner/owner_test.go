package owner_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/dashboard/client"
	"clank/internal/command/commandtest"
	"clank/internal/home"
	"clank/internal/owner"
	"clank/sessions"
	"clank/sqlite"
)

func TestWithoutAServerTheDatabaseIsRead(t *testing.T) {
	t.Parallel()
	e, _, _ := commandtest.Env(t)
	var db *sqlite.DB
	err := owner.Ask(t.Context(), e, nil, func(d *sqlite.DB) error {
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
	if err := owner.Ask(t.Context(), e, nil, func(*sqlite.DB) error { return why }); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, err := owner.Server(e, "it is needed for this"); err == nil || !strings.Contains(err.Error(), "it is needed for this") {
		t.Errorf("a server was found: %v", err)
	}
}

func TestTheServerThatOwnsTheHomeIsAskedWithItsSecret(t *testing.T) {
	t.Parallel()
	e, _, _ := commandtest.Env(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked with %q", r.Header.Get("Authorization"))
		}
		_, _ = w.Write([]byte("[]"))
	}))
	defer srv.Close()
	h, err := home.Open(e.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.Claim(), h.Publish(srv.URL, "secret")); err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	asked := false
	err = owner.Ask(t.Context(), e, func(c *client.Client) error {
		asked = true
		_, err := c.Sessions(t.Context())
		return err
	}, nil)
	if err != nil || !asked {
		t.Errorf("asked %v, %v", asked, err)
	}
	if _, err := owner.Server(e, ""); err != nil {
		t.Error(err)
	}
}
