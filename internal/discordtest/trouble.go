package discordtest

import (
	"time"

	"clank/internal/discordtest/shape"
)

// FailNext answers the next request of the route with that status, without
// doing what it asks. Each call counts for one request.
func (s *Server) FailNext(route Route, status int) {
	s.in.Plan(route, shape.Plan{Status: status})
}

// RateLimitNext answers the next request of the route with 429, and also those
// that come before retryAfter has passed.
func (s *Server) RateLimitNext(route Route, retryAfter time.Duration) {
	s.in.Plan(route, shape.Plan{RetryAfter: retryAfter})
}

// RateLimitEverything does the same with a global limit: the next request of
// the route meets it, then all routes until retryAfter has passed.
func (s *Server) RateLimitEverything(route Route, retryAfter time.Duration) {
	s.in.Plan(route, shape.Plan{RetryAfter: retryAfter, Global: true})
}

// HoldNext keeps the next request of the route waiting until it is released,
// the client gives up or the server closes.
func (s *Server) HoldNext(route Route) *Hold {
	h := shape.NewHold()
	s.in.Plan(route, shape.Plan{Held: h})
	return h
}

// LoseNextAnswer does what the next request of the route asks and then cuts the
// connection, so that the client cannot know.
func (s *Server) LoseNextAnswer(route Route) { s.in.Plan(route, shape.Plan{Lose: true}) }
