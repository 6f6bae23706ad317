package browsermgr

import (
	"context"
	"errors"

	"clank/browsermgr/connect"
)

// attach connects to a browser that runs already, here or elsewhere.
func (p *profile) attach(ctx context.Context, b *browser) error {
	got, err := connect.Attach(ctx, p.manager.connector(b.plan.Config), b.plan.At, b.connection())
	if err != nil {
		return err
	}
	b.has(got)
	return nil
}

// join connects to the browser that a person uses. After a refusal nobody is asked again for a while.
func (p *profile) join(ctx context.Context, b *browser) error {
	session, err := connect.FindSession(b.plan)
	if err != nil {
		return err
	}
	p.manager.Logger.Info("connecting to a person's browser; it may ask there whether to allow it", "profile", p.name, "user_data_dir", session.Path)
	got, err := connect.Join(ctx, session, b.connection())
	if errors.Is(err, connect.ErrNoConsent) {
		p.breaker.Hold(err)
	}
	if err != nil {
		return err
	}
	b.has(got)
	return nil
}

// has takes over a browser that runs.
func (b *browser) has(got connect.Browser) {
	b.process, b.executable, b.conn, b.port = got.Process, got.Executable, got.Conn, got.Port
	b.manager.door(&b.port)
}
