package control

import (
	"context"
	"net/http/httptest"
	"strings"

	"clank/browsermgr/control/body"
)

// Redact is redact.
func Redact(text string) string { return redact(text) }

// Acting says whether a request acts in the tab with that target.
func Acting(s *Server, target string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.desks {
		d.mu.Lock()
		acting := len(d.seats[target]) > 0
		d.mu.Unlock()
		if acting {
			return true
		}
	}
	return false
}

// Idle waits until no request is being worked on. No new ones may come meanwhile.
func Idle(s *Server) { s.handlers.Wait() }

// Table lists the routes as "METHOD path".
func Table() []string {
	var out []string
	for _, r := range table() {
		out = append(out, r.method+" "+r.path)
	}
	return out
}

// Undeclared calls the handler of a route for that profile with that body and returns what it looks for in the request and the table does
// not declare.
func Undeclared(s *Server, profile, route, json string) []string {
	for _, r := range table() {
		if r.method+" "+r.path != route {
			continue
		}
		req := httptest.NewRequest(r.method, strings.NewReplacer("{targetId}", "none", "{kind}", "local").Replace(r.path)+"?profile="+profile, nil)
		fields, err := body.Decode([]byte(json))
		if err != nil {
			return []string{err.Error()}
		}
		c := newCall(s, &r, httptest.NewRecorder(), req)
		c.body = fields
		ctx, cancel := context.WithCancel(req.Context())
		cancel() // what it looks for it does before it does anything
		_, _ = r.handle(ctx, c)
		return append(missing(c.query.Asked(), r.query), missing(c.body.Asked(), r.body)...)
	}
	return []string{"no such route: " + route}
}

func missing(asked []string, declared []field) []string {
	known := map[string]bool{"profile": true}
	for _, f := range declared {
		known[f.name] = true
	}
	var out []string
	for _, name := range asked {
		if !known[name] {
			out = append(out, name)
		}
	}
	return out
}
