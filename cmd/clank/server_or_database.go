package main

import (
	"context"
	"errors"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/sqlite"
)

// newDashboardClient asks the server at an address.
func newDashboardClient(a server.Address) *api.Client {
	return &api.Client{Base: a.URL, Token: a.Secret}
}

// withServerOrDatabase calls remote with the server that owns the home, or local with the database
// if there is none. The database is closed when local returns.
func withServerOrDatabase(ctx context.Context, e *commandEnv, remote func(*api.Client) error, local func(*sqlite.DB) error) (err error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return err
	}
	a, found, err := h.RunningServer()
	if err != nil {
		return err
	}
	if found {
		return remote(newDashboardClient(a))
	}
	db, err := sqlite.Open(ctx, h.DatabaseFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return local(db)
}

// requireServer returns the "clank serve" that owns the home. Without one the error says what
// for it is needed.
func requireServer(e *commandEnv, why string) (*api.Client, error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return nil, err
	}
	a, found, err := h.RunningServer()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("no \"clank serve\" runs with " + h.Dir + ": " + why)
	}
	return newDashboardClient(a), nil
}
