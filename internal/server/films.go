package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"clank/browsermgr"
	"clank/internal/recording/video"
	"clank/internal/settings"
	"clank/sessions"
	"clank/videosource"
)

// filmDir is the directory of films, below the state.
const filmDir = "films"

// openFilms records films of tasks until the server closes.
func (a *Server) openFilms(ctx context.Context) {
	a.films = &video.Recorder{
		Dir: filepath.Join(a.StateDir, filmDir), Manager: a.Sessions, Keep: a.disk.Keep, Logger: a.logger,
		OpenEncoder: a.Browsers.OpenEncoder,
		Screen:      func(session string) videosource.Screenshotter { return sessionScreen{a.Browsers, session} },
		Mode: func() video.Mode {
			switch record := a.Settings.Current().Record; {
			case a.Ephemeral: // its state is temporary
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

// Reasons why there is no clip, for the person who asks.
var (
	errNothingFilmed = errors.New("your session here was not recorded, and the operator has turned recording off")
	errFilmedFromNow = errors.New("your session here was not recorded so far; from now on it is. " +
		"Ask again after the next step")
	errNoClip = errors.New("the clip cannot be made just now; please try again")
)

const clipLength = 20 * time.Second

// Clip implements [bot.Pages]: it returns the end of the last filmed task of the session. If there is none, filming
// is enabled from now on.
func (p DiscordPages) Clip(ctx context.Context, o sessions.Origin, maxBytes int64) ([]byte, error) {
	a := p.server
	session, err := a.Sessions.LastSession(ctx, o)
	if errors.Is(err, sessions.ErrNotFound) {
		return nil, err
	}
	var data []byte
	if err == nil {
		data, err = a.clipOf(ctx, session.ID, maxBytes)
	}
	switch {
	case err != nil:
		a.logger.Warn("no clip was made", "session", session.ID, "error", err)
		return nil, errNoClip
	case data != nil:
		return data, nil
	case a.films.Request(session.ID, true) != nil:
		return nil, errNothingFilmed
	}
	return nil, errFilmedFromNow
}

// clipOf returns the clip of a session, nil if nothing was filmed.
func (a *Server) clipOf(ctx context.Context, session string, maxBytes int64) (_ []byte, err error) {
	tasks, err := a.Sessions.Tasks(ctx, sessions.TaskQuery{Session: session})
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "clip-*.webm")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	for _, t := range tasks {
		switch err := a.films.WriteClip(file, t, clipLength, maxBytes); {
		case err == nil:
			return os.ReadFile(file.Name())
		case !errors.Is(err, os.ErrNotExist) && t.State.Final(): // a film that has just begun is still empty
			return nil, err
		}
	}
	return nil, nil
}

// sessionScreen captures whatever page the session currently shows.
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
