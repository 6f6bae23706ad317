package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/llm/plain"
	"clank/sessions"
)

// examplePrompts are what somebody can try first, without an account anywhere.
var examplePrompts = []struct{ Label, Prompt string }{
	{"Find the lamps", `open the demo shop, type "lamp" into Search, press Enter, read`},
	{"Put one in the basket", `open the demo shop, click "Accept", click "Aurora Desk Lamp", click "Add to basket", screenshot`},
	{"Sort by price", `open the demo shop, click "Chairs", select "Price, lowest first" in Sort by, click "Show", read`},
}

// chatData is what the first page shows besides tasks.
type chatData struct {
	Examples   []struct{ Label, Prompt string }
	Places     []askingPlace  // where a member may ask; the operator asks at the dashboard
	Weaknesses []api.Weakness // the serious ones
	MaxFile    int64          // bytes of a file that comes with a task
	Models     []string       // to choose from
	Runtimes   []string
	Unset      string // why there is no model that thinks; empty: there is one
	Mute       string // why nobody can talk with the assistant; empty: one can
	Session    string // that is shown at first
	Live       bool   // pages of sessions can be watched and worked
}

// askingPlace is a channel to ask in, "server/channel". What is asked in a Private one only the person sees.
type askingPlace struct {
	namedValue

	Private bool
}

func (s *Server) chatPage(w http.ResponseWriter, r *http.Request) error {
	v, data := visitorOf(r), chatData{Examples: examplePrompts, Live: s.Live != nil, Session: r.PathValue("id")}
	data.Mute = s.noAssistant(v)
	s.presence.pageRequested(v)
	switch data.Places = s.places(v); {
	case v.role == RoleOperator:
		data.Weaknesses = slices.DeleteFunc(s.Host.Weaknesses(r.Context()), func(k api.Weakness) bool { return !k.Serious })
	case len(data.Places) == 0:
		http.Redirect(w, r, "/activity", http.StatusSeeOther)
		return nil
	}
	now := s.Settings.Current()
	data.MaxFile, data.Runtimes = int64(now.Browser.MaxUpload)<<20, settings.Runtimes()
	data.Models = append([]string{now.AgentModel, plain.ModelName}, strings.Fields(now.Access.Models)...)
	slices.Sort(data.Models)
	data.Models = slices.Compact(data.Models)
	for _, b := range settings.RuntimeBindings(now, s.Host.ModelAbility) {
		switch {
		case !b.Chosen:
		case b.Problem != "" && v.role < RoleOperator:
			data.Unset = "Tasks cannot be done yet: the operator of this clank has to choose a model."
		case b.Problem != "":
			data.Unset = "Tasks cannot be done yet: " + b.Problem + "."
		case b.Model == plain.ModelName:
			data.Unset = "No model is chosen, so clank follows written steps only, such as the examples."
		}
	}
	return s.page(w, r, "chat", pageData{Title: "clank", Data: data})
}

// places returns the channels in which v may ask for tasks, by name.
func (s *Server) places(v visitor) (places []askingPlace) {
	if v.role == RoleOperator {
		return nil
	}
	servers := s.serverNames()
	for _, m := range v.servers {
		for channel, role := range m.Channels {
			if role >= RoleMember {
				at := sessions.Origin{Kind: sessions.FromDiscord, Guild: m.Guild, Channel: channel}
				named := namedValue{m.Guild + "/" + channel, s.placeName(at, servers)}
				places = append(places, askingPlace{named, s.isPrivate(m.Guild)})
			}
		}
	}
	slices.SortFunc(places, func(a, b askingPlace) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return places
}

// isPrivate reports whether all that is done on a server is shown to who asked alone.
func (s *Server) isPrivate(guild string) bool { return s.Settings.For(guild).Server.Private }

// askingOrigin returns where v asks for a task from: the operator at the dashboard or a terminal, others as themselves
// in a channel, that of the session that they go on with or the one they name. A session stays as private as it began.
func (s *Server) askingOrigin(ctx context.Context, v visitor, in api.TaskRequest) (sessions.Origin, error) {
	var at sessions.Origin // where the session was begun
	if in.SessionID != "" {
		se, err := s.Manager.Session(ctx, strings.ToLower(strings.TrimSpace(in.SessionID)))
		if err == nil && !v.mayRead(se.Origin) {
			err = sessions.ErrNotFound
		}
		switch {
		case errors.Is(err, sessions.ErrNotFound):
			return at, refuse(http.StatusNotFound, "there is no session %q, or it was forgotten; leave it out to start a new one", in.SessionID)
		case err != nil:
			return at, failed("find the session", err)
		}
		if at = se.Origin; !at.Private && (in.Private || at.Guild != "" && s.isPrivate(at.Guild)) {
			return at, refuse(http.StatusConflict, "this session is not private: begin a new one to ask privately")
		}
	}
	if v.role == RoleOperator {
		return s.operatorAsks(ctx, v, in, at)
	}
	if why := membersMayNot(in); why != "" {
		return sessions.Origin{}, refuse(http.StatusForbidden, "%s", why)
	}
	if in.SessionID == "" {
		guild, channel, _ := strings.Cut(in.Place, "/")
		at = sessions.Origin{Kind: sessions.FromDiscord, Guild: guild, Channel: channel, User: v.id}
		at.Private = in.Private || s.isPrivate(guild)
		if guild == "" || v.roleAt(at) < RoleMember {
			return at, refuse(http.StatusForbidden, "choose a channel in which you may ask clank for something")
		}
	}
	if v.roleAt(at) < RoleMember {
		return at, refuse(http.StatusForbidden, "you may not ask for anything in the channel of this session any more")
	}
	return s.originAt(ctx, v, at)
}

// operatorAsks returns where v, an operator, asks from; at is where the session was begun that they go on with, if any.
func (s *Server) operatorAsks(ctx context.Context, v visitor, in api.TaskRequest, at sessions.Origin) (sessions.Origin, error) {
	origin, ok := originOf(in.Origin)
	switch {
	case !ok:
		return origin, refuse(http.StatusBadRequest, "origin must be %s or %s", sessions.FromDashboard, sessions.FromTerminal)
	case in.Place != "":
		return origin, refuse(http.StatusBadRequest, "the operator asks at the dashboard, not in a channel")
	case at.Private && at.Kind == sessions.FromDiscord:
		return s.originAt(ctx, v, at)
	case in.Private || at.Private:
		origin = v.privately(origin)
	}
	return origin, nil
}

// membersMayNot says what of a request only the operator may ask for, if anything. Which models, profiles and windows
// somebody may have is up to the [sessions.Policy].
func membersMayNot(in api.TaskRequest) string {
	switch {
	case in.Origin != "" && in.Origin != sessions.FromDashboard:
		return "only the operator asks from a terminal"
	case len(in.Files) > 0:
		return "only the operator can send files from here; attach them to your message in Discord"
	case len(in.Allow) > 0 || in.Asks:
		return "only the operator can say beforehand what needs no question, or who is asked"
	}
	return ""
}

// stopAll stops what v has asked for on the page: the operator all, others their own where o is.
func (s *Server) stopAll(v visitor, o sessions.Origin) api.TasksStopped {
	scope, by := cancel.Scope{Guild: o.Guild, Channel: o.Channel}, cancel.Actor{ID: v.id, Name: v.byName()}
	if v.role == RoleOperator {
		scope, by = cancel.Scope{Channel: api.PageChannel}, v.actor(operator())
	}
	stopped, _ := s.Scopes.Stop(scope, by, false)
	out := api.TasksStopped{Stopped: []string{}}
	for _, w := range stopped {
		out.Stopped = append(out.Stopped, w.ID)
	}
	return out
}
