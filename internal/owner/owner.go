// Package owner finds out for a command who has the state of the home: a server that runs, which is asked, or nobody, and then the
// database is read. What is asked is the commands' business.
package owner

import (
	"context"
	"errors"

	"clank/dashboard/client"
	"clank/internal/command"
	"clank/internal/home"
	"clank/sqlite"
)

// Client asks the server at an address.
func Client(a home.Address) *client.Client {
	return &client.Client{Base: a.URL, Token: a.Secret}
}

// Ask calls remote with the server that owns the home, or local with the database
// if there is none. The database is closed when local returns.
func Ask(ctx context.Context, e *command.Env, remote func(*client.Client) error, local func(*sqlite.DB) error) (err error) {
	h, err := home.Open(e.Getenv)
	if err != nil {
		return err
	}
	a, found, err := h.Server()
	if err != nil {
		return err
	}
	if found {
		return remote(Client(a))
	}
	db, err := sqlite.Open(ctx, h.Database())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return local(db)
}

// Server is the "clank serve" that owns the home. Without one the error says what
// for it is needed.
func Server(e *command.Env, why string) (*client.Client, error) {
	h, err := home.Open(e.Getenv)
	if err != nil {
		return nil, err
	}
	a, found, err := h.Server()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("no \"clank serve\" runs with " + h.Dir + ": " + why)
	}
	return Client(a), nil
}
