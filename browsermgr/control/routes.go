package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
)

// Route is one entry of the table that makes the server and its OpenAPI document.
type Route struct {
	Method string
	Path   string  // of net/http.ServeMux, without {$}
	About  string  // what it does, in a sentence
	Query  []Param // besides profile; those of the path are in the path
	Body   []Param // besides profile
	Answer reflect.Type
	// Handle answers a request with a value that is written as JSON; nil if it has answered itself.
	Handle func(ctx context.Context, c *Call) (any, error)
}

// Param describes what a request carries under a name.
type Param struct {
	Name     string
	Kind     string // string, integer, number, boolean, object, array (of strings), objects (an array of them)
	About    string
	Required bool
	Enum     []string // the values it may have; nil for any
	Max      int      // the largest number; 0 for any
}

// NewRoute makes a route whose answer is described by the type of what its handler returns.
func NewRoute[R any](method, path, about string, handle func(context.Context, *Call) (R, error)) Route {
	return Route{
		Method: method, Path: path, About: about, Answer: reflect.TypeFor[R](),
		Handle: func(ctx context.Context, c *Call) (any, error) { return handle(ctx, c) },
	}
}

// WithQuery gives the route with what its query carries.
func (r Route) WithQuery(fields ...Param) Route {
	r.Query = fields
	return r
}

// WithBody gives the route with what its body carries.
func (r Route) WithBody(fields ...Param) Route {
	r.Body = fields
	return r
}

// RequiredParam returns a field that a request has to carry.
func RequiredParam(name, kind, about string) Param {
	return Param{Name: name, Kind: kind, About: about, Required: true}
}

// OptionalParam returns a field that a request may carry.
func OptionalParam(name, kind, about string) Param {
	return Param{Name: name, Kind: kind, About: about}
}

// EnumParam returns a field that a request may carry, with one of the values.
func EnumParam(name, about string, values ...string) Param {
	return Param{Name: name, Kind: "string", About: about, Enum: values}
}

// tabParam returns the field that names a tab.
func tabParam() Param {
	return OptionalParam("targetId", "string", "which tab: its tabId, label, targetId or a beginning of that; without, the one used last")
}

// timeoutParam returns the field that bounds the time of a request.
func timeoutParam() Param {
	return OptionalParam("timeoutMs", "integer", "how long it may take, in milliseconds")
}

// routes lists all routes, each group where its handlers are.
func (s *Server) routes() []Route {
	return slices.Concat(s.documentRoutes(), profileRoutes(), tabRoutes(), navigateRoutes(), s.actRoutes(), dialogRoutes(),
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
		} else if err = c.resolveProfile(); err == nil { // first, so that nothing is done with another's
			value, err = r.Handle(ctx, c)
		}
		switch {
		case err != nil && isAbandoned(ctx):
			s.Logger.Debug("request abandoned by its client", "method", r.Method, "path", r.Path)
		case err != nil:
			WriteError(answerWriter{w, c}, err)
		case value != nil:
			WriteJSON(answerWriter{w, c}, http.StatusOK, value)
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
