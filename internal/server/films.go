package server

import (
	"context"
	"errors"
	"path/filepath"

	"clank/browsermgr"
	"clank/internal/recording/video"
	"clank/internal/settings"
	"clank/videosource"
)

// filmDir is where the films of tasks are, below the state.
const filmDir = "films"

// openFilms films tasks until the server closes.
func (a *Server) openFilms(ctx context.Context) {
	a.films = &video.Recorder{
		Dir: filepath.Join(a.StateDir, filmDir), Manager: a.Sessions, Keep: a.disk.Keep, Logger: a.logger,
		OpenEncoder: a.Browsers.OpenEncoder,
		Screen:      func(session string) videosource.Screenshotter { return sessionScreen{a.Browsers, session} },
		Mode: func() video.Mode {
			switch record := a.Settings.Current().Record; {
			case a.Ephemeral: // what it does is forgotten
				return video.Never
			case record == settings.RecordAlways:
				return video.Always
			case record == settings.RecordOnRequest:
				return video.OnRequest
			}
			return video.Never
		},
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = a.films.Run(ctx) // ends with ctx
	}()
	a.onClose(func(closing context.Context) error {
		stop()
		select {
		case <-ended:
			return nil
		case <-closing.Done():
			return context.Cause(closing)
		}
	})
}

// sessionScreen is the page that a session has open at each moment.
type sessionScreen struct {
	browsers *browsermgr.Manager
	session  string
}

var errNoPageOpen = errors.New("the session has no page open")

// CaptureWebP implements [videosource.Screenshotter].
func (s sessionScreen) CaptureWebP(ctx context.Context, quality int, scale float64) ([]byte, string, error) {
	w, ok := s.browsers.Lookup(s.session)
	if !ok {
		return nil, "", errNoPageOpen
	}
	return w.CaptureWebP(ctx, quality, scale)
}

// Screencast implements [videosource.Screencaster].
func (s sessionScreen) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	w, ok := s.browsers.Lookup(s.session)
	if !ok {
		return errNoPageOpen
	}
	return w.Screencast(ctx, show)
}
