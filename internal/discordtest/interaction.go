package discordtest

// Interaction returns how an interaction stands now.
func (s *Server) Interaction(id string) (Interaction, bool) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	it := s.in.Interactions[id]
	if it == nil {
		return Interaction{}, false
	}
	return s.in.Standing(it), true
}
