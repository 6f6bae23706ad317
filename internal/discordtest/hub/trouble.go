package hub

import (
	"clank/internal/discordtest/shape"
)

// trouble holds the orders, per route, in the order they were given.
type trouble struct {
	plans        map[shape.Route][]shape.Plan
	WithholdACKs bool
}

// Plan orders what comes of the next request of a route. It takes the lock.
func (s *Server) Plan(route shape.Route, p shape.Plan) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.plans == nil {
		s.plans = map[shape.Route][]shape.Plan{}
	}
	s.plans[route] = append(s.plans[route], p)
}

// PlanFor takes the next order for the route, if there is one.
func (s *Server) PlanFor(route shape.Route) shape.Plan {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	list := s.plans[route]
	if len(list) == 0 {
		return shape.Plan{}
	}
	s.plans[route] = list[1:]
	return list[0]
}
