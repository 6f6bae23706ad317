package golive

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/voice/share"
)

// Target shows shares by Go Live, as a stage of package sharing. Its methods are safe for concurrent use.
type Target struct {
	Publisher *Publisher

	mu      sync.Mutex
	streams map[string]*Stream // by [share.Presentation.ID]
}

// Name implements [share.Target].
func (s *Target) Name() string { return "Go Live" }

// Begin implements [share.Target].
func (s *Target) Begin(ctx context.Context, show share.Presentation) (share.ViewLocation, error) {
	if show.Call.Guild == "" || show.Call.Channel == "" {
		return share.ViewLocation{}, errors.New("it needs a voice channel of a server on Discord")
	}
	stream, err := s.Publisher.Start(ctx, Request{Guild: show.Call.Guild, Channel: show.Call.Channel, Source: show.Source, Lost: show.Lost})
	if err != nil {
		return share.ViewLocation{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams == nil {
		s.streams = map[string]*Stream{}
	}
	s.streams[show.ID] = stream
	text := "Open the stream in the voice channel to watch."
	if st := stream.State(); st.FallbackReason != "" {
		text += fmt.Sprintf(" It goes over %s, as %s.", st.Transport, st.FallbackReason)
	}
	return share.ViewLocation{Text: text}, nil
}

// End implements [share.Target].
func (s *Target) End(ctx context.Context, show share.Presentation) error {
	s.mu.Lock()
	stream := s.streams[show.ID]
	delete(s.streams, show.ID)
	s.mu.Unlock()
	if stream == nil {
		return nil
	}
	return stream.Stop(ctx)
}
