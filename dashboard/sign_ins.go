package dashboard

import (
	"net/http"
	"strings"

	"clank/dashboard/api"
	"clank/internal/telemetry"
	"clank/sessions/access"
)

// loginPath is the page to which Discord redirects after a sign-in; together with our address it is a redirect URI of
// the application.
const loginPath = "/login"

// discordSignInURL returns the address for signing in with Discord; empty if nobody can.
func (s *Server) discordSignInURL(r *http.Request) string {
	if s.Accounts == nil {
		return ""
	}
	return s.Accounts.SignInURL(address(r) + loginPath)
}

// beginDiscordLogin returns the sign-in address to a browser. The browser stores the state parameter of that address
// and accepts only a redirect that carries it.
func (s *Server) beginDiscordLogin(w http.ResponseWriter, r *http.Request) error {
	to := s.discordSignInURL(r)
	if to == "" {
		return refuse(http.StatusForbidden, "nobody signs in with Discord here")
	}
	return writeJSON(w, http.StatusOK, map[string]string{"url": to})
}

// loginWithDiscord signs in a browser whose user has authorized the sign-in at Discord.
func (s *Server) loginWithDiscord(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		State string `json:"state"`
		Code  string `json:"code"`
	}
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if s.discordSignInURL(r) == "" {
		return refuse(http.StatusForbidden, "nobody signs in with Discord here")
	}
	id, name, err := s.Accounts.SignIn(r.Context(), in.State, in.Code, address(r)+loginPath)
	if err != nil {
		return refuse(http.StatusUnauthorized, "%v", err)
	}
	if s.visitor(r.Context(), id, name).role == RoleNobody {
		return refuse(http.StatusForbidden, "nothing here is for this Discord account: ask the operator of this clank")
	}
	return s.signIn(w, r, "discord", access.Token{User: id, Name: name})
}

// listSignIns lists the signed-in browsers, newest first: all for the operator, for others their own.
func (s *Server) listSignIns(w http.ResponseWriter, r *http.Request) error {
	list, err := s.Tokens.SignIns()
	if err != nil {
		return failed("list the sign-ins", err)
	}
	views := []api.SignIn{}
	for _, t := range list {
		if visitorOf(r).mayEnd(t) {
			views = append(views, api.SignIn{
				ID: t.Digest, User: t.User, Name: t.Name, From: t.From, Browser: t.Browser, Since: t.Created, Until: t.Expires,
				Mine: t.Is(bearer(r)),
			})
		}
	}
	return writeJSON(w, http.StatusOK, views)
}

// endSignIns signs out one browser, or all that the visitor may.
func (s *Server) endSignIns(w http.ResponseWriter, r *http.Request) error {
	var in api.SignInsEnd
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if (in.ID == "") != in.All {
		return refuse(http.StatusBadRequest, "send the id of a sign-in, or all")
	}
	v, ended, ids := visitorOf(r), []string(nil), []string(nil)
	err := s.Tokens.SignOutAll(func(t access.Token) bool {
		ends := v.mayEnd(t) && (in.All || t.Digest == in.ID)
		if ends {
			ended, ids = append(ended, t.Name), append(ids, t.User)
		}
		return ends
	})
	switch {
	case err != nil:
		return failed("sign out", err)
	case len(ended) == 0 && !in.All:
		return refuse(http.StatusNotFound, "that browser is not signed in, or not any more")
	}
	s.Telemetry.Audit(r.Context(), telemetry.Record{Kind: telemetry.KindSignOut, User: v.id}, map[string]any{
		"by": v.byName(), "whose": strings.Join(ended, ", "), "whoseIDs": ids, "from": s.clientOf(r),
	})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// mayEnd reports whether v may see and end a sign-in.
func (v visitor) mayEnd(t access.Token) bool {
	return v.role == RoleOperator || v.id != "" && t.User == v.id
}
