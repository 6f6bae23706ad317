package discordtest

import (
	"time"
)

// plan is what a test has ordered for one request.
type plan struct {
	status     int
	retryAfter time.Duration
	global     bool
	held       *Hold
	lose       bool
}

// trouble holds the orders, per route, in the order they were given.
type trouble struct {
	plans        map[Route][]plan
	withholdACKs bool
}

func (s *Server) plan(route Route, p plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plans == nil {
		s.plans = map[Route][]plan{}
	}
	s.plans[route] = append(s.plans[route], p)
}

// FailNext answers the next request of the route with that status, without
// doing what it asks. Each call counts for one request.
func (s *Server) FailNext(route Route, status int) { s.plan(route, plan{status: status}) }

// RateLimitNext answers the next request of the route with 429, and also those
// that come before retryAfter has passed.
func (s *Server) RateLimitNext(route Route, retryAfter time.Duration) {
	s.plan(route, plan{retryAfter: retryAfter})
}

// RateLimitEverything does the same with a global limit: the next request of
// the route meets it, then all routes until retryAfter has passed.
func (s *Server) RateLimitEverything(route Route, retryAfter time.Duration) {
	s.plan(route, plan{retryAfter: retryAfter, global: true})
}

// HoldNext keeps the next request of the route waiting until it is released,
// the client gives up or the server closes.
func (s *Server) HoldNext(route Route) *Hold {
	h := &Hold{arrived: make(chan struct{}), released: make(chan struct{})}
	s.plan(route, plan{held: h})
	return h
}

// LoseNextAnswer does what the next request of the route asks and then cuts the
// connection, so that the client cannot know.
func (s *Server) LoseNextAnswer(route Route) { s.plan(route, plan{lose: true}) }

// planFor takes the next order for the route, if there is one.
func (s *Server) planFor(route Route) plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.plans[route]
	if len(list) == 0 {
		return plan{}
	}
	s.plans[route] = list[1:]
	return list[0]
}
