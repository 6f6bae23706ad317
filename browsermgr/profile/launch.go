package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
)

// RunningBrowser is a running browser and the connection to it. The caller owns both.
type RunningBrowser struct {
	Conn       *page.Browser
	Process    *chrome.Process // nil if we did not start it
	Executable chrome.Executable
	Port       int // of its DevTools on this machine; 0 if unknown or there is none
}

// Close closes the connection, and ends the browser if we started it.
func (b RunningBrowser) Close(ctx context.Context) error {
	if b.Process == nil {
		return b.Conn.Close()
	}
	err := b.Process.Stop(ctx)
	_ = b.Conn.Close()
	return err
}

// Launch starts executable with opts, whose Executable is ignored, and connects to it over a pipe.
func Launch(ctx context.Context, executable chrome.Executable, opts chrome.LaunchOptions,
	conn page.Options,
) (RunningBrowser, error) {
	opts.Executable, opts.Pipe = executable.Path, true
	process, err := chrome.Launch(ctx, opts)
	if err != nil {
		return RunningBrowser{}, err
	}
	conn.UsedCPU = process.UsedCPU
	c, err := page.ConnectPipe(ctx, process.Pipe, conn)
	if err != nil {
		return RunningBrowser{}, errors.Join(err, process.Stop(context.WithoutCancel(ctx)))
	}
	return RunningBrowser{Conn: c, Process: process, Executable: executable}, nil
}

// Attach connects to a running browser, here or elsewhere.
func Attach(ctx context.Context, c Connector, at Endpoint, conn page.Options) (RunningBrowser, error) {
	dial := func(ctx context.Context, t DialTarget, bound time.Duration) (*page.Browser, error) {
		opts := conn
		opts.HandshakeHeader, opts.HandshakeClient, opts.HandshakeTimeout = t.Header, t.Client, bound
		return page.Connect(ctx, t.URL, opts)
	}
	b, err := ConnectEndpoint(ctx, c, at, dial)
	if err != nil {
		return RunningBrowser{}, err
	}
	return RunningBrowser{Conn: b, Port: at.Port()}, nil
}

// joinTimeout is how long a person has to allow the connection.
const joinTimeout = time.Minute

// remoteDebuggingHint is what a person has to do, once.
const remoteDebuggingHint = "open chrome://inspect/#remote-debugging in that browser and switch remote debugging on"

// ErrConnectionDenied is returned if a person did not allow the connection.
var ErrConnectionDenied = errors.New("the browser did not allow the connection")

// JoinSession connects to a person's own browser, over the port that it has written to its directory; see
// [FindSession]. Such a browser asks the person at each connection, so there is one attempt. A refusal, or no answer
// within a minute, is [ErrConnectionDenied].
func JoinSession(ctx context.Context, session chrome.Session, conn page.Options) (RunningBrowser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, joinTimeout, fmt.Errorf("nobody answered within %s", joinTimeout))
	defer cancel()
	conn.HandshakeTimeout = joinTimeout
	c, err := page.Connect(ctx, session.WebSocketURL, conn)
	if err == nil {
		return RunningBrowser{Conn: c, Executable: chrome.Executable{Kind: session.Kind}, Port: session.Port}, nil
	}
	refused, ok := errors.AsType[*cdp.StatusError](err)
	switch {
	case ok && refused.Code == http.StatusNotFound:
		err = fmt.Errorf("the browser on %s was restarted, or another one has its port: %w; %s", session.Path, refused,
			remoteDebuggingHint)
	case ok, errors.Is(context.Cause(ctx), context.DeadlineExceeded), ctx.Err() != nil:
		err = fmt.Errorf("%w: look for its question \"Allow remote debugging?\" and accept it, then start the profile "+
			"again: %w",
			ErrConnectionDenied, cmp.Or(context.Cause(ctx), err))
	}
	return RunningBrowser{}, err
}

// FindSession returns the session of the person's own browser that the profile refers to. It does not connect.
func FindSession(pl Resolved) (chrome.Session, error) {
	session, err := chrome.FindAnySession(pl.UserDataDir)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, remoteDebuggingHint)
	}
	return session, err
}

// UndoOverrides makes observers undo emulation and other overrides in a browser that keeps running.
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

// CloseObservers closes the observers that implement io.Closer, after their connection has ended.
func CloseObservers(observers []page.Observer) error {
	var err error
	for _, o := range observers {
		if c, ok := o.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// ReapOrphans ends browsers and removes files that a crashed run left in the directories that the pattern matches and
// in temporary ones. It logs failures; a later launch returns them.
func ReapOrphans(ctx context.Context, pattern string, logger *slog.Logger) {
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		logger.Warn("find browsers of a previous run", "error", err)
	}
	for _, dir := range dirs {
		if err := chrome.Reap(ctx, dir); err != nil {
			logger.Warn("reap browser of a previous run", "dir", dir, "error", err)
		}
	}
	removed, err := chrome.ReapTemp(ctx, "")
	if err != nil {
		logger.Warn("reap temporary browser directories", "error", err)
	}
	if len(removed) > 0 {
		logger.Info("removed temporary browser directories of a previous run", "dirs", removed)
	}
}
