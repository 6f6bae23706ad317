package discordtest

// Interaction returns how an interaction stands now.
func (s *Server) Interaction(id string) (Interaction, bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	it := s.hub.Interactions[id]
	if it == nil {
		return Interaction{}, false
	}
	return s.hub.InteractionState(it), true
}
