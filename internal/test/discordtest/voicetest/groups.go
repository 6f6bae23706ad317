package voicetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"clank/internal/test/discordtest/delivery"
)

// ErrNoGroup says that nobody has been let into the room, or that the server has no end-to-end encryption.
var ErrNoGroup = errors.New("the room has no group")

// Group lends the delivery service of a room to do, for the trouble a test wants to make. Its methods may be called in do only.
func (s *Server) Group(server, room string, do func(*delivery.Service)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[Credentials{ClientID: ClientID{Server: server}, Room: room}.roomKey()]
	if g == nil {
		return ErrNoGroup
	}
	do(g)
	s.notify()
	return nil
}

// Settled tells whether all in a room are in its group and nothing is under way. It is false without a group.
func (s *Server) Settled(server, room string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[Credentials{ClientID: ClientID{Server: server}, Room: room}.roomKey()]
	return g != nil && g.Settled()
}

// createGroup makes the group of a ticket's room, if it has none. The lock is held.
func (s *Server) createGroup(t Credentials) {
	room := t.roomKey()
	if s.cfg.DAVE == 0 || s.groups[room] != nil {
		return
	}
	g, err := delivery.New(t.Group, func(m delivery.Message) { s.deliverGroupMessage(room, m) })
	if err != nil {
		s.recordViolation(t.ClientID, err.Error())
		return
	}
	s.groups[room] = g
}

// deliverGroupMessage sends what a delivery service says. The lock is held, since services speak only when they are asked.
func (s *Server) deliverGroupMessage(room string, m delivery.Message) {
	user := strconv.FormatUint(m.To, 10)
	for _, cl := range s.clients {
		if cl.ticket.roomKey() != room || cl.seat.User != user {
			continue
		}
		if t, ok := m.Data.(delivery.PrepareTransition); ok && t.Version == 0 {
			cl.conduct.plain = true
		}
		if m.Data != nil {
			s.send(cl, int(m.Op), m.Data)
		} else {
			s.sendBinary(cl, int(m.Op), m.Payload)
		}
	}
}

// group returns the delivery service of a client's room, nil without, and who the client is in it.
func (s *Server) group(cl *client) (*delivery.Service, uint64) {
	user, err := strconv.ParseUint(cl.seat.User, 10, 64)
	if err != nil {
		return nil, 0
	}
	return s.groups[cl.ticket.roomKey()], user
}

// handleGroupJSON takes op 23 or op 31. It reports whether the data could be read.
func (s *Server) handleGroupJSON(cl *client, op int, data json.RawMessage) bool {
	var d struct {
		Transition *uint16 `json:"transition_id"`
	}
	if json.Unmarshal(data, &d) != nil || d.Transition == nil {
		return false
	}
	if g, user := s.group(cl); g != nil && op == OpReadyForTransition {
		g.Ready(user, *d.Transition)
	} else if g != nil {
		g.Invalid(user, *d.Transition)
	}
	return true
}

// handleGroupBinary takes op 26 or op 28. The real server says nothing about what it does not take.
func (s *Server) handleGroupBinary(cl *client, op int, payload []byte) {
	g, user := s.group(cl)
	if g == nil {
		s.recordViolation(cl.seat, fmt.Sprintf("op %d in a call without end-to-end encryption", op))
		return
	}
	take := g.KeyPackage
	if op == OpCommitWelcome {
		take = g.Commit
	}
	if err := take(user, payload); err != nil {
		s.unused = append(s.unused, Violation{cl.seat, err.Error()})
	}
}

// Unused lists the key packages and commits that were not taken, and why. In a race that is nobody's fault.
func (s *Server) Unused() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Violation(nil), s.unused...)
}
