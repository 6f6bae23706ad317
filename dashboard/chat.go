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

// examplePrompts are prompts that work without an account on any site.
var examplePrompts = []struct{ Label, Prompt string }{
	{"Find the lamps", `open the demo shop, type "lamp" into Search, press Enter, read`},
	{
		"Put one in the basket",
		`open the demo shop, click "Accept", click "Aurora Desk Lamp", click "Add to basket", screenshot`,
	},
	{"Sort by price", `open the demo shop, click "Chairs", select "Price, lowest first" in Sort by, click "Show", read`},
}

// chatData is the data of the first page besides the tasks.
type chatData struct {
	Examples   []struct{ Label, Prompt string }
	Places     []promptChannel // where a member may ask; operators ask at the dashboard
	Weaknesses []api.Weakness  // only the serious ones
	MaxFile    int64           // size limit of an attached file, in bytes
	Models     []string        // models to choose from
	Runtimes   []string
	Unset      string // why no model that reasons is configured; empty if one is
	Mute       string // why the assistant is unavailable; empty if it is available
	Session    string // the session shown first
	Live       bool   // sessions can be watched and controlled
}

// promptChannel is a channel to ask in, "server/channel". In a private one, only the person who asks sees the task.
type promptChannel struct {
	namedValue

	Private bool
}

func (s *Server) chatPage(w http.ResponseWriter, r *http.Request) error {
	v, data := visitorOf(r), chatData{Examples: examplePrompts, Live: s.Live != nil, Session: r.PathValue("id")}
	if data.Session != "" {
		if _, err := s.seenSession(r); err != nil {
			return err
		}
	}
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

// places returns the channels in which v may ask for tasks, sorted by name.
func (s *Server) places(v visitor) (places []promptChannel) {
	if v.role == RoleOperator {
		return nil
	}
	servers := s.serverNames()
	for _, m := range v.servers {
		for channel, role := range m.Channels {
			if role >= RoleMember {
				at := sessions.Origin{Kind: sessions.FromDiscord, Guild: m.Guild, Channel: channel}
				named := namedValue{m.Guild + "/" + channel, s.placeName(at, servers)}
				places = append(places, promptChannel{named, s.isPrivate(m.Guild)})
			}
		}
	}
	slices.SortFunc(places, func(a, b promptChannel) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return places
}

// isPrivate reports whether tasks asked for on a server are visible only to the person who asked.
func (s *Server) isPrivate(guild string) bool { return s.Settings.For(guild).Server.Private }

// askingOrigin returns the origin of a task that v asks for. An operator asks from the dashboard or a terminal;
// others ask as themselves, in the channel of the resumed session or the one they name. A session keeps the privacy
// it started with.
func (s *Server) askingOrigin(ctx context.Context, v visitor, in api.TaskRequest) (sessions.Origin, error) {
	var at sessions.Origin // where the session was started
	if in.SessionID != "" {
		se, err := s.Manager.Session(ctx, strings.ToLower(strings.TrimSpace(in.SessionID)))
		if err == nil && !v.mayRead(se.Origin) {
			err = sessions.ErrNotFound
		}
		switch {
		case errors.Is(err, sessions.ErrNotFound):
			return at, refuse(http.StatusNotFound, "there is no session %q, or it was forgotten; leave it out to start "+
				"a new one", in.SessionID)
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

// operatorAsks returns the origin of a task that v, an operator, asks for; at is the origin of the resumed session,
// if any.
func (s *Server) operatorAsks(ctx context.Context, v visitor, in api.TaskRequest,
	at sessions.Origin,
) (sessions.Origin, error) {
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

// membersMayNot names the part of a request that only the operator may use, if there is one. The [sessions.Policy]
// decides about models, profiles and windows.
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

// stopAll stops the tasks that v started from the page: all of them for the operator, otherwise v's own at o.
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
