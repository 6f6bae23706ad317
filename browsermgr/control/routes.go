package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// routes lists all routes, each group where its handlers are.
func (s *Server) routes() []Route {
	return slices.Concat(s.documentRoutes(), profileRoutes(), tabRoutes(), navigateRoutes(), actRoutes(s.EvaluateEnabled), dialogRoutes(),
		s.snapshotRoutes(), s.pictureRoutes(), screencastRoutes(), s.Features.Routes())
}

func (s *Server) documentRoutes() []Route {
	return []Route{NewRoute("GET", "/openapi.json", "This interface as an OpenAPI 3.1 document.",
		func(context.Context, *Call) (map[string]any, error) {
			return OpenAPIDocument(s.routes(), s.Version), nil
		})}
}

// mux serves the table.
func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		pattern := r.Method + " " + r.Path
		if r.Path == "/" {
			pattern += "{$}"
		}
		mux.Handle(pattern, s.serveRoute(&r))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		f := StatusError{Status: http.StatusNotFound}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				f.Status = http.StatusMethodNotAllowed
				w.Header().Add("Allow", method)
			}
		}
		f.Err = fmt.Errorf("route not found: %s %s; GET /openapi.json lists them all", r.Method, r.URL.Path)
		WriteError(w, &f)
	})
	return mux
}

// serveRoute answers requests of one route.
func (s *Server) serveRoute(r *Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		c := NewCall(s.tabs, w, req)
		var value any
		var err error
		if c.Approver = newRequestApprover(req, s.Approver); c.Approver != nil && !allowedForModels(r) {
			err = checkModelRoute(r)
		} else {
			value, err = r.Handle(ctx, c)
		}
		switch {
		case err != nil && isAbandoned(ctx):
			s.Logger.Debug("request abandoned by its client", "method", r.Method, "path", r.Path)
		case err != nil:
			WriteError(w, err)
		case value != nil:
			WriteJSON(w, http.StatusOK, value)
		}
	})
}

// isAbandoned says whether nobody waits for the answer any more.
func isAbandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errClientGone) }

// modelRoutes are the routes that requests on behalf of a model may use: those of the tool for models. What grants
// permissions, or changes cookies, headers or profiles, is for people.
var modelRoutes = []string{
	"GET /", "GET /doctor", "GET /profiles", "POST /start", "POST /stop",
	"GET /tabs", "POST /tabs/open", "POST /tabs/focus", "DELETE /tabs/{targetId}", "POST /navigate", "POST /act",
	"GET /snapshot", "GET /text", "POST /screenshot", "POST /pdf", "GET /console", "GET /requests", "GET /errors", "GET /dialogs", "POST /hooks/dialog",
	"POST /hooks/file-chooser", "POST /download", "POST /wait/download",
	"GET /cookies", "GET /har", "POST /trace/start", "POST /trace/stop",
	"POST /set/device", "POST /set/media", "POST /set/timezone", "POST /set/locale",
}

func allowedForModels(r *Route) bool { return slices.Contains(modelRoutes, r.Method+" "+r.Path) }

func checkModelRoute(r *Route) error {
	return &StatusError{
		Status: http.StatusForbidden, Reason: ReasonConsentRefused,
		Err: fmt.Errorf("not done: %s %s is not for models; a person can do it with clank browser", r.Method, r.Path),
	}
}
