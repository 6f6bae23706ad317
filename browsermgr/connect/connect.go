// Package connect starts, reaches or joins the browser that a plan means, makes the connection to it, and leaves it. It makes one
// attempt and keeps nothing: whose the browser is, and what follows its tabs, is for those who asked.
package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/endpoint"
	"clank/browsermgr/page"
	"clank/browsermgr/plan"
)

// Browser is one that runs, with the connection to it. The caller owns both.
type Browser struct {
	Conn       *page.Browser
	Process    *chrome.Process // nil if somebody else started it
	Executable chrome.Executable
	Port       int // of its DevTools on this machine; 0 if that is not known
}

// Close closes the connection, and ends the browser if it was started here.
func (b Browser) Close(ctx context.Context) error {
	_ = b.Conn.Close()
	if b.Process == nil {
		return nil
	}
	return b.Process.Stop(ctx)
}

// Launch starts a process of executable as opts say, whose own Executable is not looked at, and connects to it.
func Launch(ctx context.Context, executable chrome.Executable, opts chrome.Options, conn page.Options) (Browser, error) {
	opts.Executable = executable.Path
	process, err := chrome.Launch(ctx, opts)
	if err != nil {
		return Browser{}, err
	}
	c, err := page.Connect(ctx, process.WebSocketURL, conn)
	if err != nil {
		return Browser{}, errors.Join(err, process.Stop(context.WithoutCancel(ctx)))
	}
	return Browser{Conn: c, Process: process, Executable: executable, Port: process.Port}, nil
}

// Attach connects to a browser that runs already, here or elsewhere.
func Attach(ctx context.Context, c endpoint.Connector, at endpoint.Endpoint, conn page.Options) (Browser, error) {
	dial := func(ctx context.Context, t endpoint.Target, bound time.Duration) (*page.Browser, error) {
		opts := conn
		opts.Header, opts.Handshake = t.Header, bound
		return page.Connect(ctx, t.URL, opts)
	}
	b, err := endpoint.Connect(ctx, c, at, dial)
	if err != nil {
		return Browser{}, err
	}
	return Browser{Conn: b, Port: at.Port()}, nil
}

// consentTimeout is how long a person has to allow the connection.
const consentTimeout = time.Minute

// switchOn is what a person has to do, once.
const switchOn = "open chrome://inspect/#remote-debugging in that browser and switch remote debugging on"

// ErrNoConsent says that a person did not let us in.
var ErrNoConsent = errors.New("the browser did not allow the connection")

// Join connects to the browser that a person uses, over the port that it has written into its directory; see
// [FindSession]. Such a browser asks the person first, at each connection: so there is one attempt. A refusal, or no
// answer within a minute, is [ErrNoConsent].
func Join(ctx context.Context, session chrome.Session, conn page.Options) (Browser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, consentTimeout, fmt.Errorf("nobody answered within %s", consentTimeout))
	defer cancel()
	conn.Handshake = consentTimeout
	c, err := page.Connect(ctx, session.WebSocketURL, conn)
	if err == nil {
		return Browser{Conn: c, Executable: chrome.Executable{Kind: session.Kind}, Port: session.Port}, nil
	}
	refused, ok := errors.AsType[*cdp.StatusError](err)
	switch {
	case ok && refused.Code == http.StatusNotFound:
		err = fmt.Errorf("the browser on %s was restarted, or another one has its port: %w; %s", session.Path, refused, switchOn)
	case ok, errors.Is(context.Cause(ctx), context.DeadlineExceeded), ctx.Err() != nil:
		err = fmt.Errorf("%w: look for its question \"Allow remote debugging?\" and accept it, then start the profile again: %w",
			ErrNoConsent, cmp.Or(context.Cause(ctx), err))
	}
	return Browser{}, err
}

// FindSession looks for the browser of a person that the plan means. It does not connect.
func FindSession(pl plan.Plan) (chrome.Session, error) {
	session, err := chrome.AnySession(pl.UserDataDir)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, switchOn)
	}
	return session, err
}

// Listens reports whether a program listens on a port of this machine.
func Listens(ctx context.Context, port int) bool {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
