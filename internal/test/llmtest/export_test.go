package llmtest

// Validates says whether the schema is at hand.
func Validates(s *Server) bool { return s.schema != nil }
