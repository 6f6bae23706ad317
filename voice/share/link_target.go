package share

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// LinkTarget shows a share to whoever has a link. The viewer page behind the link finds the share by [Manager.Watch].
type LinkTarget struct {
	Links *Links

	// Address is that of the viewer page with a secret in it, as people open it. Empty means that there is none now.
	Address func(token string) string
}

// Name implements [Target].
func (s *LinkTarget) Name() string { return "a link" }

// Begin implements [Target].
func (s *LinkTarget) Begin(_ context.Context, show Presentation) (ViewLocation, error) {
	token, until := s.Links.Issue(show.ID)
	link := s.Address(token)
	if link == "" {
		s.Links.Revoke(show.ID)
		return ViewLocation{}, errors.New("there is no address under which people reach the viewer page; set one in the settings")
	}
	return ViewLocation{
		Text: fmt.Sprintf("It is shown behind a link, for %d minutes at most: whoever has it can watch.", int(until.Sub(s.Links.now()).Round(time.Minute)/time.Minute)),
		Link: link,
	}, nil
}

// End implements [Target].
func (s *LinkTarget) End(_ context.Context, show Presentation) error {
	s.Links.Revoke(show.ID)
	return nil
}
