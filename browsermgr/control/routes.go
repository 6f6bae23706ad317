package control

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
)

// route is one entry of the table that makes the server and its OpenAPI document.
type route struct {
	method string
	path   string // of net/http.ServeMux, without {$}
	about  string
	query  []field // besides profile; those of the path are in the path
	body   []field // besides profile
	answer reflect.Type
	handle func(ctx context.Context, c *call) (any, error)
}

// field describes what a request carries under a name.
type field struct {
	name     string
	kind     string // string, integer, number, boolean, object, array (of strings), objects (an array of them)
	about    string
	required bool
	enum     []string
}

// on makes a route whose answer is described by the type of what its handler returns.
func on[R any](method, path, about string, handle func(context.Context, *call) (R, error)) route {
	return route{
		method: method, path: path, about: about, answer: reflect.TypeFor[R](),
		handle: func(ctx context.Context, c *call) (any, error) { return handle(ctx, c) },
	}
}

// params adds what the query carries.
func (r route) params(fields ...field) route {
	r.query = fields
	return r
}

// takes adds what the body carries.
func (r route) takes(fields ...field) route {
	r.body = fields
	return r
}

func need(name, kind, about string) field {
	return field{name: name, kind: kind, about: about, required: true}
}
func may(name, kind, about string) field { return field{name: name, kind: kind, about: about} }

func oneOf(name, about string, values ...string) field {
	return field{name: name, kind: "string", about: about, enum: values}
}

var (
	targetField  = may("targetId", "string", "which tab: its tabId, label, targetId or a beginning of that; without, the one used last")
	timeoutField = may("timeoutMs", "integer", "how long it may take, in milliseconds")
)

// table lists all routes, each group in a file of its own.
func table() []route {
	return slices.Concat(documentRoutes(), profileRoutes(), tabRoutes(), navigateRoutes(), actRoutes(), dialogRoutes(), snapshotRoutes(),
		ringRoutes(), stateRoutes(), storageRoutes(), fileRoutes(), pictureRoutes(), screencastRoutes())
}

// mux serves the table.
func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range table() {
		pattern := r.method + " " + r.path
		if r.path == "/" {
			pattern += "{$}"
		}
		mux.Handle(pattern, s.serve(&r))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		f := failure{status: http.StatusNotFound}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				f.status = http.StatusMethodNotAllowed
				w.Header().Add("Allow", method)
			}
		}
		f.err = fmt.Errorf("route not found: %s %s; GET /openapi.json lists them all", r.Method, r.URL.Path)
		answerError(w, &f)
	})
	return mux
}

// serve answers requests of one route.
func (s *Server) serve(r *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		c := newCall(s, r, w, req)
		value, err := r.handle(ctx, c)
		switch {
		case err != nil && abandoned(ctx):
			s.Logger.Debug("request abandoned by its client", "method", r.method, "path", r.path)
		case err != nil:
			answerError(w, err)
		case value != nil:
			answer(w, http.StatusOK, value)
		}
	})
}
