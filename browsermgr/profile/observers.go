package profile

import (
	"context"
	"errors"
	"io"

	"clank/browsermgr/page"
)

// UndoOverrides has those observers that changed how pages see the world undo it, in a browser that goes on without us.
func UndoOverrides(ctx context.Context, observers []page.Observer) error {
	var err error
	for _, o := range observers {
		if c, ok := o.(interface {
			ResetAll(ctx context.Context) error
		}); ok {
			err = errors.Join(err, c.ResetAll(ctx))
		}
	}
	return err
}

// CloseObservers lets those that can be closed clear up after the connection that they followed.
func CloseObservers(observers []page.Observer) error {
	var err error
	for _, o := range observers {
		if c, ok := o.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
