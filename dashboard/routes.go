package dashboard

import (
	"net/http"
	"slices"
	"strings"
)

// access says who may use a route.
type access int

const (
	signedIn access = iota // with the cookie or the token
	public                 // anybody who can reach it; it tells and changes nothing of worth
)

type route struct {
	pattern string
	access  access
	handle  http.HandlerFunc
}

// routes is everything there is.
func (s *Server) routes() []route {
	return append([]route{
		{"GET /{$}", signedIn, s.chatPage},
		{"GET /s/{id}", signedIn, s.chatPage},
		{"GET /settings", signedIn, s.settingsPage},
		{"GET /budget", signedIn, s.budgetPage},
		{"GET /login", public, s.loginPage},
		{"GET /assets/{sum}/{name}", public, s.asset},
		{"GET /favicon.ico", public, s.favicon},

		{"GET /api/health", public, s.health},
		{"POST /api/login", public, s.login},
		{"POST /api/logout", signedIn, s.logout},
		{"GET /api/me", public, s.me},

		{"POST /api/tasks", signedIn, s.startTask},
		{"GET /api/tasks", signedIn, s.listTasks},
		{"GET /api/tasks/{id}", signedIn, s.task},
		{"GET /api/tasks/{id}/events", signedIn, s.taskEvents},
		{"GET /api/tasks/{id}/images/{i}", signedIn, s.taskImage},
		{"GET /api/tasks/{id}/run", signedIn, s.taskRun},
		{"POST /api/tasks/{id}/stop", signedIn, s.stopTask},
		{"POST /api/tasks/{id}/say", signedIn, s.sayToTask},
		{"GET /api/steps/{task}/{n}/view", signedIn, s.stepView},
		{"POST /api/stop", signedIn, s.stopChannel},
		{"GET /api/events", signedIn, s.pageEvents},

		{"GET /api/questions", signedIn, s.listQuestions},
		{"POST /api/questions/{id}", signedIn, s.answerQuestion},

		{"GET /api/sessions", signedIn, s.listSessions},
		{"POST /api/sessions/{id}/close", signedIn, s.closeSession},
		{"POST /api/sessions/{id}/say", signedIn, s.sayToTask},

		{"POST /api/settings/reset", signedIn, s.resetSettings},
		{"GET /api/settings/presets/{name}", signedIn, s.previewPreset},

		{"GET /api/budget", signedIn, s.budget},

		{"GET /api/settings", signedIn, s.getSettings},
		{"PUT /api/settings", signedIn, s.putSettings},
	}, slices.Concat(s.watchRoutes(), s.callRoutes())...)
}

// handler puts the routes behind the checks that hold for all of them.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := r.handle
		if r.access == signedIn {
			h = s.requireLogin(h)
		}
		mux.Handle(r.pattern, h)
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if s.allowed(mux, r) != "" {
			fail(w, http.StatusMethodNotAllowed, "this address does not take %s", r.Method)
			return
		}
		fail(w, http.StatusNotFound, "there is no %s", r.URL.Path)
	})
	return s.guard(mux)
}

// allowed returns the methods that r's path takes, or "" if there is no such path.
func (s *Server) allowed(mux *http.ServeMux, r *http.Request) string {
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(probe); strings.HasPrefix(pattern, m+" ") {
			methods = append(methods, m)
		}
	}
	return strings.Join(methods, ", ")
}
