package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"clank/browsermgr"
	"clank/browsermgr/profile"
	"clank/dashboard/api"
	"clank/llm/plain"
	"clank/sessions"
)

func (s *Server) browsersPage(w http.ResponseWriter, r *http.Request) error {
	list, err := s.browserViews(r.Context(), visitorOf(r))
	if err != nil {
		return err
	}
	return s.page(w, r, "browsers", pageData{Title: "Browsers · clank", Data: list})
}

func (s *Server) listBrowsers(w http.ResponseWriter, r *http.Request) error {
	list, err := s.browserViews(r.Context(), visitorOf(r))
	return writeResult(w, http.StatusOK, "list the browsers", list, err)
}

// openSessions are the states of sessions whose page is open or is reopened on demand.
var openSessions = []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked}

// profileSessions returns the sessions that can be resumed, by profile.
func (s *Server) profileSessions(ctx context.Context) (map[string][]sessions.Session, error) {
	list, err := s.Manager.Sessions(ctx, sessions.SessionQuery{States: openSessions, Limit: 10_000})
	if err != nil {
		return nil, failed("list the sessions", err)
	}
	by := map[string][]sessions.Session{}
	for _, se := range list {
		by[se.Profile] = append(by[se.Profile], se)
	}
	return by, nil
}

// browserViews returns all profiles, of every [sessions.Place], as reader sees them, with their running browsers.
func (s *Server) browserViews(ctx context.Context, reader visitor) ([]api.BrowserView, error) {
	infos, err := s.Browsers.Profiles(ctx)
	if err != nil {
		return nil, failed("list the browsers", err)
	}
	waiting, err := s.profileSessions(ctx)
	if err != nil {
		return nil, err
	}
	names, err := s.placeNames(ctx)
	if err != nil {
		return nil, err
	}
	views := make([]api.BrowserView, len(infos))
	for i, info := range infos {
		_, place := sessions.SplitProfile(info.Name)
		v := api.BrowserView{Info: info, State: api.BrowserOff, Owner: names.of(place), Tabs: []api.BrowserTab{}}
		v.Sessions = len(waiting[info.Name])
		switch {
		case info.Running:
			v.State = api.BrowserRunning
		case v.Sessions > 0:
			v.State = api.BrowserSuspended
		}
		v.Ours = info.Driver != string(profile.DriverExistingSession) && !info.IsRemote
		v.Lasting = place != "" || info.IsDefault || info.Name == profile.DefaultName || !v.Ours && info.Name == "user"
		if info.Running {
			v.Tabs = s.browserTabs(ctx, reader, info.Name)
		}
		views[i] = v
	}
	return views, nil
}

// browserTabs returns the tabs of a running browser. The contents of private tabs are shown only to the person who
// asked for them.
func (s *Server) browserTabs(ctx context.Context, reader visitor, name string) []api.BrowserTab {
	tabs := []api.BrowserTab{}
	for key, list := range s.Browsers.Tabs(name) {
		hidden := profile.IsPersons(name)
		if se, err := s.Manager.Session(ctx, key); err == nil {
			hidden = (hidden || se.Origin.Private) && !reader.asked(se.Origin)
		} else {
			key = ""
		}
		for _, t := range list {
			tab := api.BrowserTab{ID: t.ID, Title: t.Title, URL: t.URL, Session: key}
			switch {
			case t.URL == "about:blank":
				tab.Title, tab.URL = "Empty page", ""
			case hidden:
				tab = api.BrowserTab{ID: t.ID, Title: "A private page"}
			}
			tabs = append(tabs, tab)
		}
	}
	slices.SortFunc(tabs, func(a, b api.BrowserTab) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return tabs
}

// placeNames are the display names of owners of profiles: Discord servers and people, by id.
type placeNames struct{ servers, people map[string]string }

func (s *Server) placeNames(ctx context.Context) (placeNames, error) {
	n := placeNames{servers: s.serverNames(), people: map[string]string{sessions.OperatorID: "Operator, privately"}}
	facets, err := s.Manager.TaskFacets(ctx, nil)
	if err != nil {
		return n, failed("read who asks", err)
	}
	for _, p := range facets.People {
		n.people[p.ID] = p.Name
	}
	return n, nil
}

// of returns the display name of the owner.
func (n placeNames) of(p sessions.Place) string {
	kind, id, _ := strings.Cut(string(p), "-")
	user, guild, _ := strings.Cut(id, "at")
	switch kind {
	case "":
		return "You"
	case "server":
		return cmp.Or(n.servers[id], "Server "+id)
	}
	who := cmp.Or(n.people[user], "Person "+user)
	if guild != "" {
		who += " · " + cmp.Or(n.servers[guild], "Server "+guild)
	}
	return who
}

// doctorData is the data of a browser's health page.
type doctorData struct {
	Profile string
	Report  profile.DoctorReport
}

// doctorPage shows the problems that keep a browser from working, if any.
func (s *Server) doctorPage(w http.ResponseWriter, r *http.Request) error {
	p, err := s.Browsers.FindProfile(r.PathValue("name"))
	if err != nil {
		return failed("find the profile", err)
	}
	report, err := p.Doctor(r.Context(), false)
	if err != nil {
		return failed("examine the browser", err)
	}
	return s.page(w, r, "doctor", pageData{Title: "Doctor · clank", Data: doctorData{p.Name(), report}})
}

func (s *Server) createBrowser(w http.ResponseWriter, r *http.Request) error {
	var in api.NewName
	if err := readJSON(r, &in); err != nil {
		return err
	}
	made, err := s.Browsers.CreateProfile(r.Context(), browsermgr.CreateProfileOptions{Name: in.Name})
	return writeResult(w, http.StatusCreated, "create the profile", made, err)
}

func (s *Server) startBrowser(w http.ResponseWriter, r *http.Request) error {
	var in api.BrowserStart
	if err := readJSON(r, &in); err != nil {
		return err
	}
	p, err := s.Browsers.FindProfile(r.PathValue("name"))
	if err == nil {
		var opts browsermgr.StartOptions
		if in.Headed {
			opts.Headless = new(bool)
		}
		err = p.Start(r.Context(), opts)
	}
	return writeDone(w, "start the browser", err)
}

func (s *Server) stopBrowser(w http.ResponseWriter, r *http.Request) error {
	p, err := s.Browsers.FindProfile(r.PathValue("name"))
	if err == nil {
		_, err = p.Stop(r.Context())
	}
	return writeDone(w, "stop the browser", err)
}

func (s *Server) renameBrowser(w http.ResponseWriter, r *http.Request) error {
	var in api.NewName
	if err := readJSON(r, &in); err != nil {
		return err
	}
	return writeDone(w, "rename the profile", s.Browsers.RenameProfile(r.Context(), r.PathValue("name"), in.Name))
}

// resetBrowser moves the data of a profile to the trash.
func (s *Server) resetBrowser(w http.ResponseWriter, r *http.Request) error {
	p, err := s.idleProfile(r)
	if err != nil {
		return err
	}
	_, err = p.Reset(r.Context())
	return writeDone(w, "reset the profile", err)
}

// deleteBrowser removes a profile and moves its data to the trash.
func (s *Server) deleteBrowser(w http.ResponseWriter, r *http.Request) error {
	p, err := s.idleProfile(r)
	if err != nil {
		return err
	}
	_, err = s.Browsers.DeleteProfile(r.Context(), p.Name())
	return writeDone(w, "delete the profile", err)
}

// idleProfile returns the profile that the path names, or an error if its browser is running.
func (s *Server) idleProfile(r *http.Request) (*browsermgr.Profile, error) {
	p, err := s.Browsers.FindProfile(r.PathValue("name"))
	if err != nil {
		return nil, failed("find the profile", err)
	}
	for _, b := range s.Browsers.Status() {
		if b.Profile == p.Name() && b.Running {
			const why = "the browser of %q runs, and what its pages hold would be lost: stop it first"
			return nil, refuse(http.StatusConflict, why, p.Name())
		}
	}
	return p, nil
}

// openBrowser opens an address in a profile, in a new session that the operator can take over to sign in.
func (s *Server) openBrowser(w http.ResponseWriter, r *http.Request) error {
	var in api.BrowserOpen
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if !strings.Contains(in.URL, "://") {
		in.URL = "https://" + in.URL
	}
	at, err := url.Parse(in.URL)
	web := err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http")
	if !web || strings.ContainsAny(in.URL, " \"\n,;") { // it is to be one word of a step
		return refuse(http.StatusBadRequest, "give the address of a page, such as https://example.com")
	}
	p, err := s.Browsers.FindProfile(r.PathValue("name"))
	if err != nil {
		return failed("find the profile", err)
	}
	origin, _ := originOf(sessions.FromDashboard)
	started, err := s.begin(r.Context(), sessions.Task{
		Prompt: fmt.Sprintf("open %s", at), Origin: origin, Profile: p.Name(), Model: plain.ModelName, Typed: true,
	}, false)
	return writeStarted(w, "open the page", started, err)
}
