package control

import (
	"context"
	"net/http/httptest"
	"strings"

	"clank/browsermgr/page"
)

// SendFrame is sendFrame.
var SendFrame = sendFrame

// WaitIdle waits until no request is in progress. No new ones may arrive meanwhile.
func WaitIdle(s *Server) {
	// This takes a lock that the requests took when they began, and so orders their beginning before the wait.
	if _, use, err := s.tabs.Browser(context.Background(), "", false); err == nil {
		use.Release()
	}
	s.handlers.Wait()
}

// RouteTable lists the routes as "METHOD path".
func RouteTable() []string {
	var out []string
	for _, r := range new(Server).routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

// UndeclaredFields calls the handler of a route for that profile with that body and returns the fields that it reads
// and the route does not declare.
func UndeclaredFields(s *Server, profile, name, json string) []string {
	for _, r := range s.routes() {
		if r.Method+" "+r.Path != name {
			continue
		}
		req := httptest.NewRequest(r.Method, strings.NewReplacer("{targetId}", "none", "{kind}", "local").Replace(r.Path)+
			"?profile="+profile, nil)
		fields, err := DecodeFields([]byte(json))
		if err != nil {
			return []string{err.Error()}
		}
		c := NewCall(s.tabs, httptest.NewRecorder(), req)
		c.Body = fields
		ctx, cancel := context.WithCancel(req.Context())
		cancel() // what it looks for it does before it does anything
		_, _ = r.Handle(ctx, c)
		return append(missing(c.Query.NamesRead(), r.Query), missing(c.Body.NamesRead(), r.Body)...)
	}
	return []string{"no such route: " + name}
}

func missing(asked []string, declared []Param) []string {
	known := map[string]bool{"profile": true}
	for _, f := range declared {
		known[f.Name] = true
	}
	var out []string
	for _, name := range asked {
		if !known[name] {
			out = append(out, name)
		}
	}
	return out
}

// ModelRoutes returns the routes allowed for requests on behalf of models, in the form of RouteTable.
func ModelRoutes() []string { return modelRoutes }

// DoApproved performs an action on behalf of a model whose questions the approver answers.
func DoApproved(ctx context.Context, approver Approver, tab *page.Tab, act page.Action, do func() error) error {
	return (&requestApprover{approver, "id"}).DoApproved(ctx, "clank", tab, act, do)
}
