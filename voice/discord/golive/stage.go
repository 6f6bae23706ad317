package golive

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/sharing"
)

// Stage shows shares by Go Live, as a stage of package sharing. Its methods are safe for concurrent use.
type Stage struct {
	Publisher *Publisher

	mu      sync.Mutex
	streams map[string]*Stream // by [sharing.Show.ID]
}

// Name implements [sharing.Stage].
func (s *Stage) Name() string { return "Go Live" }

// Begin implements [sharing.Stage].
func (s *Stage) Begin(ctx context.Context, show sharing.Show) (sharing.Place, error) {
	if show.Call.Guild == "" || show.Call.Channel == "" {
		return sharing.Place{}, errors.New("it needs a voice channel of a server on Discord")
	}
	stream, err := s.Publisher.Start(ctx, Request{Guild: show.Call.Guild, Channel: show.Call.Channel, Source: show.Source, Lost: show.Lost})
	if err != nil {
		return sharing.Place{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams == nil {
		s.streams = map[string]*Stream{}
	}
	s.streams[show.ID] = stream
	text := "Open the stream in the voice channel to watch."
	if st := stream.State(); st.Detour != "" {
		text += fmt.Sprintf(" It goes over %s, as %s.", st.Way, st.Detour)
	}
	return sharing.Place{Text: text}, nil
}

// End implements [sharing.Stage].
func (s *Stage) End(ctx context.Context, show sharing.Show) error {
	s.mu.Lock()
	stream := s.streams[show.ID]
	delete(s.streams, show.ID)
	s.mu.Unlock()
	if stream == nil {
		return nil
	}
	return stream.Stop(ctx)
}
