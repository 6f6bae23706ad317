package dashboard

import (
	"context"
	"errors"
	"net/http"

	"clank/dashboard/api"
	"clank/sessions"
)

// Links creates links to sessions. Its errors are sentences for people.
type Links interface {
	NewLink(ctx context.Context, by sessions.Origin, in api.LinkRequest) (api.LinkView, error)
	Links(ctx context.Context, by sessions.Origin, session string) []api.LinkView
	RevokeLinks(ctx context.Context, by sessions.Origin, session, link string) int
	CheckSharing(ctx context.Context) []api.SharingCheck
}

// operator returns the origin of the operator, who may control everything that is not private.
func operator() sessions.Origin {
	o, _ := originOf(sessions.FromDashboard)
	o.Moderator = true
	return o
}

func (s *Server) listLinks(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Links.Links(r.Context(), operator(), r.FormValue("session")))
}

func (s *Server) newLink(w http.ResponseWriter, r *http.Request) error {
	var in api.LinkRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if se, err := s.Manager.Session(r.Context(), in.Session); err == nil && se.Origin.Private {
		return refuse(http.StatusForbidden, "this session is private: nobody else can be shown its page")
	}
	view, err := s.Links.NewLink(r.Context(), operator(), in)
	if err != nil && !errors.Is(err, context.Canceled) {
		return refuse(http.StatusUnprocessableEntity, "%v", err)
	}
	return writeResult(w, http.StatusCreated, "make the link", view, err)
}

// revokeLinks revokes links: one, those to a session, or all.
func (s *Server) revokeLinks(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	n := s.Links.RevokeLinks(r.Context(), operator(), q.Get("session"), q.Get("link"))
	return writeJSON(w, http.StatusOK, api.LinksRevoked{Count: n})
}

func (s *Server) checkSharing(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Links.CheckSharing(r.Context()))
}
