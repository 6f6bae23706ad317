package browsermgr

import (
	"context"

	"clank/browsermgr/chrome"
	"clank/videosource"
)

// OpenEncoder starts a separate browser that encodes the pictures of [Window.Screencast] as video. The caller closes
// it.
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

// encoderOptions returns the launch options of the encoder's browser: the usual ones, without the operator's options
// for pages.
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
