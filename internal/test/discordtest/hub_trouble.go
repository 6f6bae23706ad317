package discordtest

// faultSettings holds the orders, per route, in the order they were given.
type faultSettings struct {
	plans        map[Route][]RoutePlan
	WithholdACKs bool
}

// Plan orders what comes of the next request of a route. It takes the lock.
func (s *hub) Plan(route Route, p RoutePlan) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.plans == nil {
		s.plans = map[Route][]RoutePlan{}
	}
	s.plans[route] = append(s.plans[route], p)
}

// PlanFor takes the next order for the route, if there is one.
func (s *hub) PlanFor(route Route) RoutePlan {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	list := s.plans[route]
	if len(list) == 0 {
		return RoutePlan{}
	}
	s.plans[route] = list[1:]
	return list[0]
}
