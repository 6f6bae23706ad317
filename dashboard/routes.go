package dashboard

import (
	"net/http"
	"slices"
	"strings"
)

type route struct {
	pattern string
	least   Role // the minimum role; handle decides what that person sees and may do
	handle  func(http.ResponseWriter, *http.Request) error
}

// metricsRoute also accepts a token for metrics.
const metricsRoute = "GET /metrics"

func (s *Server) routes() []route { //nolint:funlen // it is a table
	return []route{
		{"GET /{$}", RoleViewer, s.chatPage},
		{"GET /s/{id}", RoleMember, s.chatPage},
		{"GET /activity", RoleViewer, s.activityPage},
		{"GET /tasks/{id}", RoleViewer, s.taskPage},
		{"GET /setup", RoleOperator, s.setupPage},
		{"GET /api/setup", RoleOperator, s.setup},
		{"POST /api/setup/model", RoleOperator, s.testModel},
		{"POST /api/setup/voice", RoleOperator, s.checkVoice},
		{"POST /api/setup/key", RoleOperator, s.saveKey},
		{"GET /api/setup/models", RoleOperator, s.listModels},
		{"GET /settings", RoleOperator, s.settingsPage},
		{"GET /settings/servers/{id}", RoleViewer, s.guildSettingsPage},
		{"GET /budget", RoleMember, s.budgetPage},
		{"GET " + loginPath, RoleNobody, s.loginPage},
		{"GET /assets/{sum}/{name}", RoleNobody, s.asset},
		{"GET /favicon.ico", RoleNobody, s.favicon},

		{"GET /healthz", RoleNobody, s.health},
		{"GET /readyz", RoleNobody, s.ready},
		{metricsRoute, RoleOperator, s.metrics},
		{"GET /debug/pprof/{name}", RoleOperator, s.profile},
		{"GET /api/records", RoleOperator, s.listRecords},
		{"GET /api/health", RoleNobody, s.health},
		{"POST /api/login", RoleNobody, s.throttled(s.login)},
		{"POST /api/login/discord", RoleNobody, s.throttled(s.loginWithDiscord)},
		{"POST /api/login/discord/begin", RoleNobody, s.throttled(s.beginDiscordLogin)},
		{"POST /api/login-link", RoleOperator, s.newLoginLink},
		{"POST /api/logout", RoleViewer, s.logout},
		{"GET /api/me", RoleNobody, s.sessionStatus},

		{"POST /api/tasks", RoleMember, s.startTask},
		{"POST /api/talk", RoleMember, s.talk},
		{"GET /api/tasks", RoleViewer, s.listTasks},
		{"GET /api/tasks/{id}", RoleViewer, s.task},
		{"GET /api/tasks/{id}/events", RoleViewer, s.taskEvents},
		{"GET /api/tasks/{id}/images/{i}", RoleViewer, s.taskImage},
		{"GET /api/tasks/{id}/downloads/{file}", RoleMember, s.download},
		{"POST " + filesPath, RoleOperator, s.receiveFile},
		{"GET /api/tasks/{id}/run", RoleOperator, s.downloadRun},
		{"GET /api/tasks/{id}/page", RoleOperator, s.pageLog},
		{"GET /api/tasks/{id}/export/{kind}", RoleMember, s.exportTask},
		{"POST /api/tasks/{id}/retry", RoleOperator, s.retryTask},
		{"POST /api/tasks/{id}/replay", RoleOperator, s.replayTask},
		{"POST /api/tasks/{id}/script", RoleOperator, s.saveScript},
		{"GET /api/tasks/{id}/film", RoleViewer, s.film},
		{"GET /api/tasks/{id}/film/clip", RoleViewer, s.filmClip},
		{"GET /api/tasks/{id}/film/chapters", RoleViewer, s.filmChapters},
		{"POST /api/tasks/{id}/stop", RoleViewer, s.stopTask},
		{"POST /api/tasks/{id}/say", RoleMember, s.addTaskNote},
		{"GET /api/steps/{task}/{n}/view", RoleViewer, s.stepView},
		{"POST /api/stop", RoleOperator, s.stopChannel},
		{"GET /api/events", RoleViewer, s.pageEvents},

		{"GET /api/questions", RoleViewer, s.listQuestions},
		{"POST /api/questions/{id}", RoleViewer, s.answerQuestion},
		{"GET /api/calls/{id}/questions", RoleOperator, s.questionEvents},

		{"GET /api/sessions", RoleViewer, s.listSessions},
		{"GET /api/sessions/{id}/live", RoleViewer, s.live},
		{"POST /api/sessions/{id}/close", RoleMember, s.closeSession},
		{"GET /api/sessions/{id}/film", RoleOperator, s.filming},
		{"POST /api/sessions/{id}/film", RoleOperator, s.requestFilm},
		{"POST /api/sessions/{id}/say", RoleMember, s.addTaskNote},

		{"GET /api/settings/export", RoleOperator, s.exportSettings},
		{"POST /api/settings/import", RoleOperator, s.importSettings},
		{"POST /api/settings/reset", RoleOperator, s.resetSettings},
		{"GET /api/settings/presets/{name}", RoleOperator, s.previewPreset},

		{"GET /api/discord", RoleOperator, s.discord},
		{"GET /api/weaknesses", RoleOperator, s.weaknesses},

		{"GET /api/budget", RoleOperator, s.budget},
		{"GET /api/costs", RoleMember, s.costs},
		{"GET /api/costs.csv", RoleMember, s.costsCSV},

		{"GET /api/settings", RoleOperator, s.getSettings},
		{"PUT /api/settings", RoleOperator, s.putSettings},
		{"GET /api/servers/{id}/settings", RoleViewer, s.getGuildSettings},
		{"PUT /api/servers/{id}/settings", RoleViewer, s.putGuildSettings},

		{"GET /browsers", RoleOperator, s.browsersPage},
		{"GET /browsers/{name}/doctor", RoleOperator, s.doctorPage},
		{"GET /api/browsers", RoleOperator, s.listBrowsers},
		{"POST /api/browsers", RoleOperator, s.createBrowser},
		{"POST /api/browsers/{name}/start", RoleOperator, s.startBrowser},
		{"POST /api/browsers/{name}/stop", RoleOperator, s.stopBrowser},
		{"POST /api/browsers/{name}/open", RoleOperator, s.openBrowser},
		{"POST /api/browsers/{name}/rename", RoleOperator, s.renameBrowser},
		{"POST /api/browsers/{name}/reset", RoleOperator, s.resetBrowser},
		{"POST /api/browsers/{name}/delete", RoleOperator, s.deleteBrowser},

		{"GET /nodes", RoleOperator, s.nodesPage},
		{"GET /api/nodes", RoleOperator, s.listNodes},
		{"POST /api/nodes/test", RoleOperator, s.testNode},

		{"GET /safety", RoleOperator, s.safetyPage},
		{"GET /api/refusals", RoleOperator, s.listRefusals},
		{"POST /api/refusals/allow", RoleOperator, s.allowRefused},
		{"POST /api/tokens/remove", RoleOperator, s.removeToken},
		{"GET /api/sign-ins", RoleViewer, s.listSignIns},
		{"POST /api/sign-ins/end", RoleViewer, s.endSignIns},

		{"GET /scripts", RoleOperator, s.scriptsPage},
		{"POST /api/scripts/{name}/run", RoleOperator, s.runScript},
		{"POST /api/scripts/{name}/rename", RoleOperator, s.renameScript},
		{"POST /api/scripts/{name}/delete", RoleOperator, s.deleteScript},
		{"GET /transcripts", RoleOperator, s.transcriptsPage},
		{"GET /transcripts/{name}", RoleOperator, s.transcriptPage},
		{"GET /api/transcripts/{name}", RoleOperator, s.exportTranscript},
		{"POST /api/transcripts/{name}/delete", RoleOperator, s.deleteTranscript},

		{"GET /watches", RoleMember, s.watchesPage},
		{"GET /api/watches", RoleMember, s.listWatches},
		{"POST /api/watches", RoleOperator, s.addWatch},
		{"POST /api/watches/{id}/end", RoleMember, s.endWatch},

		{"GET /api/links", RoleOperator, s.listLinks},
		{"POST /api/links", RoleOperator, s.newLink},
		{"POST /api/links/revoke", RoleOperator, s.revokeLinks},
		{"GET /api/links/check", RoleOperator, s.checkSharing},

		{"GET /call", RoleOperator, s.callPage},
		{"GET /api/call/{$}", RoleOperator, s.callAPI},
		{"POST /api/call/join", RoleOperator, s.callAPI},
		{"POST /api/call/stop", RoleOperator, s.callAPI},
		{"GET /api/call/pictures/{name}", RoleOperator, s.callAPI},
	}
}

// handler wraps the routes in the checks that apply to all of them.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := s.requireRole(r.least, s.answerWith(r.handle))
		if r.pattern == metricsRoute {
			h = s.orMetricsToken(h)
		}
		if path, get := strings.CutPrefix(r.pattern, "GET "); get && !strings.HasPrefix(path, "/api/") {
			h = compress(h)
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
	mux.HandleFunc("/", s.answerWith(s.missingPage))
	return s.guard(mux)
}

// isPath reports whether r's path has a route with any method.
func isPath(mux *http.ServeMux, r *http.Request) bool {
	return slices.ContainsFunc([]string{http.MethodGet, http.MethodPost, http.MethodPut}, func(m string) bool {
		_, pattern := mux.Handler(&http.Request{Method: m, URL: r.URL, Host: r.Host})
		return strings.HasPrefix(pattern, m+" ")
	})
}
