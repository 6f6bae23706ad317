package discordtest

import "time"

// FailNext answers the next request of the route with that status, without
// doing what it asks. Each call counts for one request.
func (s *Server) FailNext(route Route, status int) {
	s.hub.Plan(route, RoutePlan{Status: status})
}

// RateLimitNext answers the next request of the route with 429, and also those
// that come before retryAfter has passed.
func (s *Server) RateLimitNext(route Route, retryAfter time.Duration) {
	s.hub.Plan(route, RoutePlan{RetryAfter: retryAfter})
}

// RateLimitEverything does the same with a global limit: the next request of
// the route meets it, then all routes until retryAfter has passed.
func (s *Server) RateLimitEverything(route Route, retryAfter time.Duration) {
	s.hub.Plan(route, RoutePlan{RetryAfter: retryAfter, Global: true})
}

// HoldNext keeps the next request of the route waiting until it is released,
// the client gives up or the server closes.
func (s *Server) HoldNext(route Route) *RequestHold {
	h := NewRequestHold()
	s.hub.Plan(route, RoutePlan{Held: h})
	return h
}

// LoseNextAnswer does what the next request of the route asks and then cuts the
// connection, so that the client cannot know.
func (s *Server) LoseNextAnswer(route Route) { s.hub.Plan(route, RoutePlan{Lose: true}) }
