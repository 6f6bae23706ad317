package dashboard

import (
	"net/http"
	"slices"
	"strings"
)

// routeAccess says who may use a route.
type routeAccess int

const (
	accessSignedIn routeAccess = iota // with a token, or the key of a sign-in
	accessMetrics                     // the same, or with a token for metrics
	accessPublic                      // anybody who can reach it; it tells and changes nothing of worth
)

type route struct {
	pattern  string
	requires routeAccess
	handle   func(http.ResponseWriter, *http.Request) error
}

func (s *Server) routes() []route { //nolint:funlen // it is a table
	return []route{
		{"GET /{$}", accessSignedIn, s.chatPage},
		{"GET /s/{id}", accessSignedIn, s.chatPage},
		{"GET /activity", accessSignedIn, s.activityPage},
		{"GET /tasks/{id}", accessSignedIn, s.taskPage},
		{"GET /setup", accessSignedIn, s.setupPage},
		{"GET /api/setup", accessSignedIn, s.setup},
		{"POST /api/setup/model", accessSignedIn, s.testModel},
		{"POST /api/setup/key", accessSignedIn, s.saveKey},
		{"GET /api/setup/models", accessSignedIn, s.listModels},
		{"GET /settings", accessSignedIn, s.settingsPage},
		{"GET /settings/servers/{id}", accessSignedIn, s.guildSettingsPage},
		{"GET /budget", accessSignedIn, s.budgetPage},
		{"GET /login", accessPublic, s.loginPage},
		{"GET /assets/{sum}/{name}", accessPublic, s.asset},
		{"GET /favicon.ico", accessPublic, s.favicon},

		{"GET /healthz", accessPublic, s.health},
		{"GET /readyz", accessPublic, s.ready},
		{"GET /metrics", accessMetrics, s.metrics},
		{"GET /debug/pprof/{name}", accessSignedIn, s.profile},
		{"GET /api/records", accessSignedIn, s.listRecords},
		{"GET /api/health", accessPublic, s.health},
		{"POST /api/login", accessPublic, s.login},
		{"POST /api/login-link", accessSignedIn, s.newLoginLink},
		{"POST /api/logout", accessSignedIn, s.logout},
		{"GET /api/me", accessPublic, s.sessionStatus},

		{"POST /api/tasks", accessSignedIn, s.startTask},
		{"GET /api/tasks", accessSignedIn, s.listTasks},
		{"GET /api/tasks/{id}", accessSignedIn, s.task},
		{"GET /api/tasks/{id}/events", accessSignedIn, s.taskEvents},
		{"GET /api/tasks/{id}/images/{i}", accessSignedIn, s.taskImage},
		{"GET /api/tasks/{id}/downloads/{file}", accessSignedIn, s.download},
		{"POST " + filesPath, accessSignedIn, s.receiveFile},
		{"GET /api/tasks/{id}/run", accessSignedIn, s.downloadRun},
		{"GET /api/tasks/{id}/page", accessSignedIn, s.pageLog},
		{"GET /api/tasks/{id}/export/{kind}", accessSignedIn, s.exportTask},
		{"POST /api/tasks/{id}/retry", accessSignedIn, s.retryTask},
		{"POST /api/tasks/{id}/replay", accessSignedIn, s.replayTask},
		{"POST /api/tasks/{id}/script", accessSignedIn, s.saveScript},
		{"GET /api/tasks/{id}/film", accessSignedIn, s.film},
		{"GET /api/tasks/{id}/film/clip", accessSignedIn, s.filmClip},
		{"GET /api/tasks/{id}/film/chapters", accessSignedIn, s.filmChapters},
		{"POST /api/tasks/{id}/stop", accessSignedIn, s.stopTask},
		{"POST /api/tasks/{id}/say", accessSignedIn, s.addTaskNote},
		{"GET /api/steps/{task}/{n}/view", accessSignedIn, s.stepView},
		{"POST /api/stop", accessSignedIn, s.stopChannel},
		{"GET /api/events", accessSignedIn, s.pageEvents},

		{"GET /api/questions", accessSignedIn, s.listQuestions},
		{"POST /api/questions/{id}", accessSignedIn, s.answerQuestion},
		{"GET /api/calls/{id}/questions", accessSignedIn, s.questionEvents},

		{"GET /api/sessions", accessSignedIn, s.listSessions},
		{"GET /api/sessions/{id}/live", accessSignedIn, s.live},
		{"POST /api/sessions/{id}/close", accessSignedIn, s.closeSession},
		{"GET /api/sessions/{id}/film", accessSignedIn, s.filming},
		{"POST /api/sessions/{id}/film", accessSignedIn, s.requestFilm},
		{"POST /api/sessions/{id}/say", accessSignedIn, s.addTaskNote},

		{"GET /api/settings/export", accessSignedIn, s.exportSettings},
		{"POST /api/settings/import", accessSignedIn, s.importSettings},
		{"POST /api/settings/reset", accessSignedIn, s.resetSettings},
		{"GET /api/settings/presets/{name}", accessSignedIn, s.previewPreset},

		{"GET /api/discord", accessSignedIn, s.discord},
		{"GET /api/weaknesses", accessSignedIn, s.weaknesses},

		{"GET /api/budget", accessSignedIn, s.budget},
		{"GET /api/costs", accessSignedIn, s.costs},
		{"GET /api/costs.csv", accessSignedIn, s.costsCSV},

		{"GET /api/settings", accessSignedIn, s.getSettings},
		{"PUT /api/settings", accessSignedIn, s.putSettings},
		{"GET /api/servers/{id}/settings", accessSignedIn, s.getGuildSettings},
		{"PUT /api/servers/{id}/settings", accessSignedIn, s.putGuildSettings},

		{"GET /browsers", accessSignedIn, s.browsersPage},
		{"GET /browsers/{name}/doctor", accessSignedIn, s.doctorPage},
		{"GET /api/browsers", accessSignedIn, s.listBrowsers},
		{"POST /api/browsers", accessSignedIn, s.createBrowser},
		{"POST /api/browsers/{name}/start", accessSignedIn, s.startBrowser},
		{"POST /api/browsers/{name}/stop", accessSignedIn, s.stopBrowser},
		{"POST /api/browsers/{name}/open", accessSignedIn, s.openBrowser},
		{"POST /api/browsers/{name}/rename", accessSignedIn, s.renameBrowser},
		{"POST /api/browsers/{name}/reset", accessSignedIn, s.resetBrowser},
		{"POST /api/browsers/{name}/delete", accessSignedIn, s.deleteBrowser},

		{"GET /safety", accessSignedIn, s.safetyPage},
		{"GET /api/refusals", accessSignedIn, s.listRefusals},
		{"POST /api/refusals/allow", accessSignedIn, s.allowRefused},
		{"POST /api/tokens/remove", accessSignedIn, s.removeToken},
		{"POST /api/sign-ins/end", accessSignedIn, s.endSignIn},

		{"GET /scripts", accessSignedIn, s.scriptsPage},
		{"POST /api/scripts/{name}/run", accessSignedIn, s.runScript},
		{"POST /api/scripts/{name}/rename", accessSignedIn, s.renameScript},
		{"POST /api/scripts/{name}/delete", accessSignedIn, s.deleteScript},
		{"GET /transcripts", accessSignedIn, s.transcriptsPage},
		{"GET /transcripts/{name}", accessSignedIn, s.transcriptPage},
		{"GET /api/transcripts/{name}", accessSignedIn, s.exportTranscript},
		{"POST /api/transcripts/{name}/delete", accessSignedIn, s.deleteTranscript},

		{"GET /watches", accessSignedIn, s.watchesPage},
		{"GET /api/watches", accessSignedIn, s.listWatches},
		{"POST /api/watches", accessSignedIn, s.addWatch},
		{"POST /api/watches/{id}/end", accessSignedIn, s.endWatch},

		{"GET /api/links", accessSignedIn, s.listLinks},
		{"POST /api/links", accessSignedIn, s.newLink},
		{"POST /api/links/revoke", accessSignedIn, s.revokeLinks},
		{"GET /api/links/check", accessSignedIn, s.checkSharing},

		{"GET /call", accessSignedIn, s.callPage},
		{"GET /api/call/{$}", accessSignedIn, s.callAPI},
		{"POST /api/call/join", accessSignedIn, s.callAPI},
		{"POST /api/call/stop", accessSignedIn, s.callAPI},
		{"GET /api/call/pictures/{name}", accessSignedIn, s.callAPI},
	}
}

// handler puts the routes behind the checks that hold for all of them.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := s.answerWith(r.handle)
		switch r.requires {
		case accessSignedIn:
			h = s.requireLogin(h)
		case accessMetrics:
			h = s.requireMetricsToken(h)
		case accessPublic:
		}
		mux.Handle(r.pattern, h)
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if isPath(mux, r) {
			writeError(w, http.StatusMethodNotAllowed, "this address does not take %s", r.Method)
			return
		}
		writeError(w, http.StatusNotFound, "there is no %s", r.URL.Path)
	})
	return s.guard(mux)
}

// isPath reports whether there is a route for r's path with some method.
func isPath(mux *http.ServeMux, r *http.Request) bool {
	return slices.ContainsFunc([]string{http.MethodGet, http.MethodPost, http.MethodPut}, func(m string) bool {
		_, pattern := mux.Handler(&http.Request{Method: m, URL: r.URL, Host: r.Host})
		return strings.HasPrefix(pattern, m+" ")
	})
}
