package liveview

import (
	"context"
	"errors"

	"clank/browsermgr"
	"clank/browsermgr/page/screenshot"
	"clank/sessions"
	"clank/videosource"
)

// stream captures and encodes a session's page once for all its viewers. The person who controls the page has a
// separate one, because the others see a placeholder meanwhile.
type stream struct {
	source  *videosource.Source
	stop    context.CancelFunc
	ended   chan struct{}
	viewers int // guarded by the Server's lock
}

// streamKey identifies a stream. Images are scaled to the size in which they are shown; video is the same for all.
type streamKey struct {
	session       string
	takeover      *browsermgr.Takeover // of the person who controls the page; nil for viewers
	width, height int                  // maximum size of images; zero for video
}

// subscribe starts watching a session's page. The caller must call leave.
func (s *Server) subscribe(key streamKey, session sessions.Session) (v *videosource.Viewer, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[key]
	if st == nil {
		ctx, stop := context.WithCancel(context.Background())
		if key.takeover != nil {
			ctx = key.takeover.Context(ctx)
		}
		source := &videosource.Source{Screen: screen{s, session, key}, OpenEncoder: s.OpenEncoder}
		st = &stream{source: source, stop: stop, ended: make(chan struct{})}
		if s.streams == nil {
			s.streams = map[streamKey]*stream{}
		}
		s.streams[key] = st
		go func() { // the last viewer waits for it
			defer close(st.ended)
			_ = source.Run(ctx) // ends with that viewer
		}()
	}
	st.viewers++
	format := videosource.JPEG
	if key.width == 0 {
		format = videosource.VideoOrJPEG
	}
	v = st.source.SubscribeTo(format)
	return v, func() {
		v.Close()
		s.mu.Lock()
		st.viewers--
		last := st.viewers == 0
		if last {
			delete(s.streams, key)
		}
		s.mu.Unlock()
		if last {
			st.stop()
			<-st.ended
		}
	}
}

// screen captures whatever page the session currently shows.
type screen struct {
	server  *Server
	session sessions.Session
	key     streamKey
}

// maxFPS is the maximum number of images per second.
const maxFPS = 20

var (
	errNoPage = errors.New("the page of this session is not open")
	errNoCast = errors.New("pictures come from the screencast alone")
)

// Screencast implements [videosource.Screencaster].
func (s screen) Screencast(ctx context.Context, show func(videosource.Picture)) error {
	window, err := s.server.Window(ctx, s.session, false)
	switch {
	case err != nil:
		return err
	case window == nil:
		return errNoPage
	case s.key.width == 0:
		return window.Screencast(ctx, show)
	}
	o := screenshot.WatchOptions{MaxWidth: s.key.width, MaxHeight: s.key.height, FPS: maxFPS}
	return window.ScreencastWith(ctx, o, show)
}

// CaptureWebP implements [videosource.Screenshotter].
func (screen) CaptureWebP(context.Context, int, float64) (data []byte, url string, err error) {
	return nil, "", errNoCast
}
