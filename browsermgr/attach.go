package browsermgr

import (
	"context"
	"errors"

	"clank/browsermgr/profile"
)

// attach connects to a browser that runs already, here or elsewhere.
func (p *profileState) attach(ctx context.Context, b *browser) error {
	got, err := profile.Attach(ctx, p.manager.connector(b.resolved.Config), b.resolved.Address, b.connectOptions())
	if err != nil {
		return err
	}
	b.setConnection(got)
	return nil
}

// join connects to the browser that a person uses. After a refusal nobody is asked again for a while.
func (p *profileState) join(ctx context.Context, b *browser) error {
	session, err := profile.FindSession(b.resolved)
	if err != nil {
		return err
	}
	p.manager.Logger.Info("connecting to a person's browser; it may ask there whether to allow it", "profile", p.name, "user_data_dir", session.Path)
	got, err := profile.JoinSession(ctx, session, b.connectOptions())
	if errors.Is(err, profile.ErrConnectionDenied) {
		p.breaker.Open(err)
	}
	if err != nil {
		return err
	}
	b.setConnection(got)
	return nil
}

// setConnection takes over a browser that runs.
func (b *browser) setConnection(got profile.RunningBrowser) {
	b.process, b.executable, b.conn, b.port = got.Process, got.Executable, got.Conn, got.Port
	b.manager.reportDevToolsPort(&b.port)
}
