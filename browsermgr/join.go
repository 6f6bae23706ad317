package browsermgr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/endpoint"
	"clank/browsermgr/page"
	"clank/browsermgr/plan"
)

// attach connects to a browser that runs already, here or elsewhere.
func (p *profile) attach(ctx context.Context, b *browser) error {
	dial := func(ctx context.Context, t endpoint.Target, bound time.Duration) (*page.Browser, error) {
		opts := b.connection()
		opts.Header, opts.Handshake = t.Header, bound
		return page.Connect(ctx, t.URL, opts)
	}
	conn, err := endpoint.Connect(ctx, p.manager.connector(b.plan.Config), b.plan.At, dial)
	if err != nil {
		return err
	}
	b.conn, b.port = conn, b.plan.At.Port()
	return nil
}

// consentTimeout is how long a person has to allow the connection.
const consentTimeout = time.Minute

// switchOn is what a person has to do, once.
const switchOn = "open chrome://inspect/#remote-debugging in that browser and switch remote debugging on"

// errNoConsent says that a person did not let us in.
var errNoConsent = errors.New("the browser did not allow the connection")

// join connects to the browser that a person uses, over the port that it has written into its directory. Such a browser
// asks the person first, at each connection: so there is one attempt, and after a refusal none for a while.
func (p *profile) join(ctx context.Context, b *browser) error {
	session, err := findSession(b.plan)
	if err != nil {
		return err
	}
	p.manager.Logger.Info("connecting to a person's browser; it may ask there whether to allow it", "profile", p.name, "user_data_dir", session.Path)
	ctx, cancel := context.WithTimeoutCause(ctx, consentTimeout, fmt.Errorf("nobody answered within %s", consentTimeout))
	defer cancel()
	opts := b.connection()
	opts.Handshake = consentTimeout
	conn, err := page.Connect(ctx, session.WebSocketURL, opts)
	if err != nil {
		refused, ok := errors.AsType[*cdp.StatusError](err)
		switch {
		case ok && refused.Code == http.StatusNotFound:
			return fmt.Errorf("the browser on %s was restarted, or another one has its port: %w; %s", session.Path, refused, switchOn)
		case ok, errors.Is(context.Cause(ctx), context.DeadlineExceeded), ctx.Err() != nil:
			err = fmt.Errorf("%w: look for its question \"Allow remote debugging?\" and accept it, then start the profile again: %w",
				errNoConsent, cmp.Or(context.Cause(ctx), err))
			p.breaker.hold(err)
		}
		return err
	}
	b.conn, b.port, b.executable.Kind = conn, session.Port, session.Kind
	return nil
}

// findSession looks for the browser that the plan means. It does not connect.
func findSession(pl plan.Plan) (chrome.Session, error) {
	session, err := chrome.AnySession(pl.UserDataDir)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, switchOn)
	}
	return session, err
}
