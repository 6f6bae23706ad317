package discordtest

import "slices"

// Requests lists all calls of the API so far, oldest first.
func (s *Server) Requests() []Request {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Requests)
}

// RequestsTo lists the calls of one route.
func (s *Server) RequestsTo(route Route) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Route != route })
}

// Frames lists all gateway messages so far, oldest first.
func (s *Server) Frames() []Frame {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Frames)
}

// Received lists the gateway messages with that opcode that clients sent.
func (s *Server) Received(op int) []Frame {
	return slices.DeleteFunc(s.Frames(), func(f Frame) bool { return !f.Received || f.Op != op })
}

// Disconnects lists the gateway connections that have ended.
func (s *Server) Disconnects() []Disconnect {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Disconnects)
}
