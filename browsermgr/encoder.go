package browsermgr

import (
	"context"

	"clank/browsermgr/chrome"
	"clank/videosource"
)

// OpenEncoder opens what encodes the pictures of [Window.Screencast], in a browser that is there for that alone. The
// caller closes it.
func (m *Manager) OpenEncoder(ctx context.Context) (videosource.Encoder, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	e, err := m.encoders.Open(ctx)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// encoderOptions returns how the browser that encodes is started: like the others, but without what the operator wants
// of pages.
func (m *Manager) encoderOptions(ctx context.Context) (chrome.LaunchOptions, error) {
	c := m.config()
	if c.Disabled || c.AttachOnly {
		return chrome.LaunchOptions{}, ErrDisabled
	}
	executable, err := chrome.Find(ctx, c.Executable)
	return chrome.LaunchOptions{
		Executable: executable.Path, NoSandbox: c.NoSandbox, Logger: m.Logger,
		Timeout: c.LaunchTimeout, ReadyTimeout: c.ReadyTimeout,
	}, err
}
