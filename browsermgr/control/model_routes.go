package control

import (
	"fmt"
	"net/http"
	"slices"
)

// modelRoutes are the routes that requests on behalf of a model may use: those of the tool for models. What grants
// permissions, changes cookies, headers or profiles, or records, is for people.
var modelRoutes = []string{
	"GET /", "GET /doctor", "GET /profiles", "POST /start", "POST /stop",
	"GET /tabs", "POST /tabs/open", "POST /tabs/focus", "DELETE /tabs/{targetId}", "POST /navigate", "POST /act",
	"GET /snapshot", "GET /text", "POST /screenshot", "POST /pdf", "GET /console", "GET /requests", "GET /errors", "GET /dialogs", "POST /hooks/dialog",
	"POST /hooks/file-chooser", "POST /download", "POST /wait/download",
	"POST /set/device", "POST /set/media", "POST /set/timezone", "POST /set/locale",
}

func allowedForModels(r *Route) bool { return slices.Contains(modelRoutes, r.Method+" "+r.Path) }

func checkModelRoute(r *Route) error {
	return &StatusError{
		Status: http.StatusForbidden, Reason: ReasonConsentRefused,
		Err: fmt.Errorf("not done: %s %s is not for models; a person can do it with clank browser", r.Method, r.Path),
	}
}
