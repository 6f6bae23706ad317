package sharing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// LinkStage shows a share to whoever has a link. The viewer page behind the link finds the share by [Manager.Watch].
type LinkStage struct {
	Links *Links

	// Base is the address under which people reach the viewer page; the secret is appended to its path. Empty means that there is none
	// now.
	Base func() string
}

// Name implements [Stage].
func (s *LinkStage) Name() string { return "a link" }

// Begin implements [Stage].
func (s *LinkStage) Begin(_ context.Context, show Show) (Place, error) {
	base := s.Base()
	if base == "" {
		return Place{}, errors.New("there is no address under which people reach the viewer page; set one in the settings")
	}
	at, err := url.Parse(base)
	if err != nil || at.Host == "" {
		return Place{}, fmt.Errorf("the address of the viewer page, %q, is no web address; correct it in the settings", base)
	}
	token, until := s.Links.Issue(show.ID)
	return Place{
		Text: fmt.Sprintf("Whoever has the link can watch, for %d minutes at most.", int(until.Sub(s.Links.now()).Round(time.Minute)/time.Minute)),
		Link: at.JoinPath(token).String(),
	}, nil
}

// End implements [Stage].
func (s *LinkStage) End(_ context.Context, show Show) error {
	s.Links.Revoke(show.ID)
	return nil
}
