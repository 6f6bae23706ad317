package discordtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"clank/internal/discordtest/hub"
	"clank/internal/discordtest/rest"
	"clank/internal/discordtest/voiceserver"
)

// A Server is one emulated Discord. Its methods may be called from any
// goroutine. Values it returns are copies; nobody else changes them.
type Server struct {
	// URL is where it listens, "http://127.0.0.1:port", without a final slash.
	URL string
	// Voice is the server of all calls, nil unless Config asked for it.
	Voice *voiceserver.Server

	in   *rest.Server
	http *http.Server
	done chan struct{}
	stop context.CancelCauseFunc
}

// Start listens on a free loopback port. The caller must Close.
func Start(cfg Config) (*Server, error) {
	var voice *voiceserver.Server
	if cfg.Voice != nil {
		var err error
		if voice, err = voiceserver.Start(*cfg.Voice); err != nil {
			return nil, err
		}
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		err = fmt.Errorf("listen for discord clients: %w", err)
		if voice != nil {
			err = errors.Join(err, voice.Close())
		}
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Server{
		URL:   "http://" + ln.Addr().String(),
		Voice: voice,
		in:    &rest.Server{Server: hub.New(cfg)},
		done:  make(chan struct{}),
		stop:  stop,
	}
	s.in.URL, s.in.Voice = s.URL, s.Voice
	s.http = &http.Server{
		Handler:           s.in.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       hub.WithSocket,
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always ends with ErrServerClosed, by Close
	}()
	return s, nil
}

// Close cuts all connections and waits until every goroutine of the server has
// ended. Further calls do nothing.
func (s *Server) Close() error {
	s.in.Mu.Lock()
	if s.in.Closed {
		s.in.Mu.Unlock()
		return nil
	}
	s.in.Closed = true
	for c := range s.in.Conns {
		c.Cut()
	}
	s.in.Notify()
	s.in.Mu.Unlock()

	s.stop(hub.ErrServerClosed)
	err := s.http.Close()
	<-s.done
	s.in.Tasks.Wait()
	if s.Voice != nil {
		err = errors.Join(err, s.Voice.Close())
	}
	if err != nil {
		return fmt.Errorf("close the emulated discord: %w", err)
	}
	return nil
}

// Now is the time as Discord sees it.
func (s *Server) Now() time.Time {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	return s.in.Now()
}

// Advance moves Discord's clock forward, so that the rules of three seconds and
// fifteen minutes can be tried without waiting.
func (s *Server) Advance(d time.Duration) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	s.in.Offset += d
	s.in.Notify()
}
