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

	hub  *hub
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
		hub:   newHub(cfg),
		done:  make(chan struct{}),
		stop:  stop,
	}
	s.hub.URL, s.hub.Voice = s.URL, s.Voice
	s.http = &http.Server{
		Handler:           s.hub.Handler(),
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
	s.hub.Mu.Lock()
	if s.hub.Closed {
		s.hub.Mu.Unlock()
		return nil
	}
	s.hub.Closed = true
	for c := range s.hub.Conns {
		c.Cut()
	}
	s.hub.Notify()
	s.hub.Mu.Unlock()

	s.stop(ErrServerClosed)
	err := s.http.Close()
	<-s.done
	s.hub.Tasks.Wait()
	if s.Voice != nil {
		err = errors.Join(err, s.Voice.Close())
	}
	if err != nil {
		return fmt.Errorf("close the emulated discord: %w", err)
	}
	return nil
}

// Advance moves Discord's clock forward, so that the rules of three seconds and
// fifteen minutes can be tried without waiting.
func (s *Server) Advance(d time.Duration) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Offset += d
	s.hub.Notify()
}
