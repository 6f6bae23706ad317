package dave

import (
	"fmt"
	"slices"
)

// pendingTransition is a transition that was announced: what we send changes when the gateway says so.
type pendingTransition struct {
	id      uint16
	version int
	secret  []byte // of our frames; nil if we have none yet, or the version needs none
	serial  int    // of the epoch that begins; keys of those before it become old
}

// prepareTransition takes op 21. Id 0 is for those who are alone: it counts at once.
func (s *Session) prepareTransition(t Transition) error {
	if t.Version == 0 {
		s.media.expectCleartext()
		return s.prepare(pendingTransition{id: t.ID, serial: noEpoch})
	}
	p := pendingTransition{id: t.ID, version: t.Version, serial: noEpoch}
	if s.member {
		p.serial = s.media.newestEpoch()
	}
	if s.group != nil {
		secret, err := s.exportSecret(s.options.UserID)
		if err != nil {
			return err
		}
		p.secret = secret
	}
	return s.prepare(p)
}

// prepare keeps a transition and says that we are ready for it, or goes through with it if its id is 0.
func (s *Session) prepare(p pendingTransition) error {
	s.addPending(p)
	if p.id == 0 {
		return s.execute(0)
	}
	s.options.SendJSON(OpTransitionReady, Transition{ID: p.id})
	return nil
}

// addPending keeps a transition; one of the same id before it is void.
func (s *Session) addPending(p pendingTransition) {
	s.pending = slices.DeleteFunc(s.pending, func(other pendingTransition) bool { return other.id == p.id })
	const most = 16 // a gateway that announces and never executes
	if len(s.pending) == most {
		s.pending = slices.Delete(s.pending, 0, 1)
	}
	s.pending = append(s.pending, p)
}

// execute takes op 22. Transitions that were announced before this one are void with it.
func (s *Session) execute(id uint16) error {
	i := slices.IndexFunc(s.pending, func(p pendingTransition) bool { return p.id == id })
	if i < 0 {
		return fmt.Errorf("execute transition %d: it was not announced", id)
	}
	p := s.pending[i]
	s.pending = slices.Delete(s.pending, 0, i+1)
	s.media.useSendKeys(p, s.options.Now())
	s.options.Logger.Debug("transition executed", "transition", id, "version", p.version, "keys", p.secret != nil)
	return nil
}
