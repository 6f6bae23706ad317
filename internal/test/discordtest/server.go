package discordtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"clank/internal/test/discordtest/voicetest"
)

// A Server is one emulated Discord. Its methods may be called from any
// goroutine. Values it returns are copies; nobody else changes them.
type Server struct {
	// URL is where it listens, "http://127.0.0.1:port", without a final slash.
	URL string
	// Voice is the server of all calls, nil unless Config asked for it.
	Voice *voicetest.Server

	rest *RESTServer
	http *http.Server
	done chan struct{}
	stop context.CancelCauseFunc
}

// Start listens on a free loopback port. The caller must Close.
func Start(cfg Config) (*Server, error) {
	var voice *voicetest.Server
	if cfg.Voice != nil {
		var err error
		if voice, err = voicetest.Start(*cfg.Voice); err != nil {
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
		rest:  &RESTServer{Hub: NewHub(cfg)},
		done:  make(chan struct{}),
		stop:  stop,
	}
	s.rest.URL, s.rest.Voice = s.URL, s.Voice
	s.http = &http.Server{
		Handler:           s.rest.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       WithSocket,
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
	s.rest.Mu.Lock()
	if s.rest.Closed {
		s.rest.Mu.Unlock()
		return nil
	}
	s.rest.Closed = true
	for c := range s.rest.Conns {
		c.Cut()
	}
	s.rest.Notify()
	s.rest.Mu.Unlock()

	s.stop(ErrServerClosed)
	err := s.http.Close()
	<-s.done
	s.rest.Tasks.Wait()
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
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	return s.rest.Now()
}

// Advance moves Discord's clock forward, so that the rules of three seconds and
// fifteen minutes can be tried without waiting.
func (s *Server) Advance(d time.Duration) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	s.rest.Offset += d
	s.rest.Notify()
}
