package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"clank/browsermgr/control/action"
	"clank/browsermgr/control/ask"
	"clank/browsermgr/control/look"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
)

// table lists all routes, each group where its handlers are.
func (s *Server) table() []route.Route {
	return slices.Concat(s.documentRoutes(), profileRoutes(), tabRoutes(), navigateRoutes(), action.Routes(s.EvaluateEnabled), dialogRoutes(),
		look.Routes(look.Options{Mode: s.SnapshotMode, Keep: s.Features.Keep}), s.Features.Routes())
}

func (s *Server) documentRoutes() []route.Route {
	return []route.Route{route.On("GET", "/openapi.json", "This interface as an OpenAPI 3.1 document.",
		func(context.Context, *route.Call) (map[string]any, error) {
			return route.Document(s.table(), s.Version), nil
		})}
}

// mux serves the table.
func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.table() {
		pattern := r.Method + " " + r.Path
		if r.Path == "/" {
			pattern += "{$}"
		}
		mux.Handle(pattern, s.serve(&r))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		f := reply.StatusError{Status: http.StatusNotFound}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				f.Status = http.StatusMethodNotAllowed
				w.Header().Add("Allow", method)
			}
		}
		f.Err = fmt.Errorf("route not found: %s %s; GET /openapi.json lists them all", r.Method, r.URL.Path)
		reply.Error(w, &f)
	})
	return mux
}

// serve answers requests of one route.
func (s *Server) serve(r *route.Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		c := route.NewCall(s.desks, w, req)
		var value any
		var err error
		if c.Asker = ask.Of(req, s.Consent); c.Asker != nil && !forModels(r) {
			err = notForModels(r)
		} else {
			value, err = r.Handle(ctx, c)
		}
		switch {
		case err != nil && abandoned(ctx):
			s.Logger.Debug("request abandoned by its client", "method", r.Method, "path", r.Path)
		case err != nil:
			reply.Error(w, err)
		case value != nil:
			reply.JSON(w, http.StatusOK, value)
		}
	})
}

// abandoned says whether nobody waits for the answer any more.
func abandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errClientGone) }
