package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
)

// Route is an entry of the table from which the server and its OpenAPI document are made.
type Route struct {
	Method string
	Path   string  // as in net/http.ServeMux, without {$}
	About  string  // description in one sentence
	Query  []Param // without profile and path parameters
	Body   []Param // without profile
	Answer reflect.Type
	// Handle returns the value to write as JSON, or nil if it has written the response itself.
	Handle func(ctx context.Context, c *Call) (any, error)
}

// Param describes a parameter or body field.
type Param struct {
	Name     string
	Kind     string // string, integer, number, boolean, object, array (of strings) or objects (an array)
	About    string
	Required bool
	Enum     []string // allowed values; nil for any
	Max      int      // maximum; 0 for none
}

// NewRoute returns a route whose response schema is derived from R.
func NewRoute[R any](method, path, about string, handle func(context.Context, *Call) (R, error)) Route {
	return Route{
		Method: method, Path: path, About: about, Answer: reflect.TypeFor[R](),
		Handle: func(ctx context.Context, c *Call) (any, error) { return handle(ctx, c) },
	}
}

// WithQuery returns the route with query parameters.
func (r Route) WithQuery(fields ...Param) Route {
	r.Query = fields
	return r
}

// WithBody returns the route with body fields.
func (r Route) WithBody(fields ...Param) Route {
	r.Body = fields
	return r
}

// RequiredParam returns a required field.
func RequiredParam(name, kind, about string) Param {
	return Param{Name: name, Kind: kind, About: about, Required: true}
}

// OptionalParam returns an optional field.
func OptionalParam(name, kind, about string) Param {
	return Param{Name: name, Kind: kind, About: about}
}

// EnumParam returns an optional field with a fixed set of values.
func EnumParam(name, about string, values ...string) Param {
	return Param{Name: name, Kind: "string", About: about, Enum: values}
}

// tabParam returns the field that names a tab.
func tabParam() Param {
	return OptionalParam("targetId", "string", "which tab: its tabId, label, targetId or a beginning of that; without, "+
		"the one used last")
}

// timeoutParam returns the field for a request's time limit.
func timeoutParam() Param {
	return OptionalParam("timeoutMs", "integer", "how long it may take, in milliseconds")
}

// routes lists all routes; each group is defined next to its handlers.
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

// mux returns a handler for all routes.
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

// serveRoute returns the handler of one route.
func (s *Server) serveRoute(r *Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		c := NewCall(s.tabs, w, req)
		var value any
		var err error
		if c.Approver = newRequestApprover(req, s.Approver); c.Approver != nil && !allowedForModels(r) {
			err = checkModelRoute(r)
		} else if err = c.resolveProfile(); err == nil { // first, so that no other profile is touched
			value, err = s.handle(ctx, r, c)
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

// stepRoutes are the routes that read or change a page. Their requests wait for a slot; see
// [browsermgr.Manager.BeginStep].
var stepRoutes = []string{
	"POST /tabs/open", "POST /navigate", "POST /act", "GET /snapshot", "GET /text",
	"POST /screenshot", "POST /pdf",
}

// handle calls the route's handler, in a slot if it is one of stepRoutes.
func (s *Server) handle(ctx context.Context, r *Route, c *Call) (any, error) {
	if slices.Contains(stepRoutes, r.Method+" "+r.Path) {
		end, err := s.Manager.BeginStep(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	return r.Handle(ctx, c)
}

// isAbandoned reports whether the client has disconnected.
func isAbandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errClientGone) }

// modelRoutes are the routes allowed for requests on behalf of a model: those of the browser tool. Granting permissions
// and changing cookies, headers or profiles is left to people.
var modelRoutes = []string{
	"GET /", "GET /doctor", "GET /profiles", "POST /start", "POST /stop",
	"GET /tabs", "POST /tabs/open", "POST /tabs/focus", "DELETE /tabs/{targetId}", "POST /navigate", "POST /act",
	"GET /snapshot", "GET /text", "POST /screenshot", "POST /pdf", "GET /console", "GET /requests", "GET /errors",
	"GET /dialogs", "POST /hooks/dialog",
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
