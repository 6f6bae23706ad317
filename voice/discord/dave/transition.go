package dave

import (
	"fmt"
	"slices"
)

// prepared is a transition that was announced: what we send changes when the gateway says so.
type prepared struct {
	id      uint16
	version int
	secret  []byte // of our frames; nil if we have none yet, or the version needs none
	serial  int    // of the epoch that begins; keys of those before it become old
}

// prepareTransition takes op 21. Id 0 is for those who are alone: it counts at once.
func (s *Session) prepareTransition(t Transition) error {
	if t.Version == 0 {
		s.media.expectCleartext()
		return s.prepare(prepared{id: t.ID, serial: none})
	}
	p := prepared{id: t.ID, version: t.Version, serial: none}
	if s.member {
		p.serial = s.media.newest()
	}
	if s.group != nil {
		secret, err := s.export(s.options.UserID)
		if err != nil {
			return err
		}
		p.secret = secret
	}
	return s.prepare(p)
}

// prepare keeps a transition and says that we are ready for it, or goes through with it if its id is 0.
func (s *Session) prepare(p prepared) error {
	s.note(p)
	if p.id == 0 {
		return s.execute(0)
	}
	s.options.SendJSON(OpTransitionReady, Transition{ID: p.id})
	return nil
}

// note keeps a transition; one of the same id before it is void.
func (s *Session) note(p prepared) {
	s.prepared = slices.DeleteFunc(s.prepared, func(other prepared) bool { return other.id == p.id })
	const most = 16 // a gateway that announces and never executes
	if len(s.prepared) == most {
		s.prepared = slices.Delete(s.prepared, 0, 1)
	}
	s.prepared = append(s.prepared, p)
}

// execute takes op 22. Transitions that were announced before this one are void with it.
func (s *Session) execute(id uint16) error {
	i := slices.IndexFunc(s.prepared, func(p prepared) bool { return p.id == id })
	if i < 0 {
		return fmt.Errorf("execute transition %d: it was not announced", id)
	}
	p := s.prepared[i]
	s.prepared = slices.Delete(s.prepared, 0, i+1)
	s.media.send(p, s.options.Now())
	s.options.Logger.Debug("transition executed", "transition", id, "version", p.version, "keys", p.secret != nil)
	return nil
}
