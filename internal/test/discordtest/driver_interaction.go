package discordtest

// Interaction returns how an interaction stands now.
func (s *Server) Interaction(id string) (Interaction, bool) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	it := s.rest.Interactions[id]
	if it == nil {
		return Interaction{}, false
	}
	return s.rest.InteractionState(it), true
}
