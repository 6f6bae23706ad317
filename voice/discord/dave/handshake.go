package dave

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// handleExternalSender handles op 25: the external sender whose proposals are valid. It applies to groups created from
// now on; an existing group has its own.
func (s *Session) handleExternalSender(payload []byte) error {
	sender, err := ParseExternalSender(payload)
	if err != nil {
		return err
	}
	if s.member {
		return nil
	}
	s.sender = &sender
	return s.createGroup()
}

// handleProposals handles op 27 and answers with a commit of all proposals (op 28). Every member does so, and the
// gateway picks one. Without a group there is nothing to do: a Welcome will come.
func (s *Session) handleProposals(payload []byte) error {
	change, err := ParseProposals(payload)
	if err != nil || s.group == nil {
		return err
	}
	for _, p := range change.Proposals {
		if err := s.group.Append(p, s.isKnown); err != nil {
			if errors.Is(err, ErrWrongEpoch) && !s.member {
				return nil // it is about a group that we are yet to be added to
			}
			return err
		}
	}
	var unknown error // a refused proposal may be revoked; the others are committed anyway
	for _, ref := range change.Revoked {
		unknown = errors.Join(unknown, s.group.Revoke(ref))
	}
	commit, welcome, err := s.group.Commit()
	if err == nil && commit != nil {
		s.options.SendBinary(OpCommitWelcome, append(commit, welcome...))
	}
	return errors.Join(unknown, err)
}

// handleCommit handles op 29, the commit that the gateway picked. Our own commits for that epoch become void.
func (s *Session) handleCommit(id uint16, message []byte) error {
	if s.group == nil {
		return nil // we are not in the group; a Welcome will come
	}
	err := s.group.Apply(message)
	switch {
	case errors.Is(err, ErrOtherGroup), errors.Is(err, ErrWrongEpoch):
		s.options.Logger.Debug("commit passed over", "reason", err.Error(), "transition", id)
		return nil
	case err != nil:
		return s.reportInvalid(id, err)
	}
	if s.member {
		s.keyPackage = nil // no longer needed: we are in the group, and it has advanced
	}
	return s.enterEpoch(id)
}

// handleWelcome handles op 30: we were added to a group that someone else created. It replaces our own group.
func (s *Session) handleWelcome(id uint16, message []byte) error {
	if s.keyPackage == nil || s.sender == nil {
		return s.reportInvalid(id, errors.New("join by a Welcome: there is no key package out that it could be for"))
	}
	g, err := JoinGroup(s.options.GroupID, message, s.keyPackage, *s.sender, s.isKnown)
	if err != nil {
		return s.reportInvalid(id, err)
	}
	s.group, s.keyPackage = g, nil
	return s.enterEpoch(id)
}

// enterEpoch derives the keys of the group's new epoch. They are used for receiving immediately, and for sending from
// the transition on.
func (s *Session) enterEpoch(id uint16) error {
	view, err := s.group.View()
	if err != nil {
		return s.reportInvalid(id, err)
	}
	keys, err := s.exportKeys(view)
	if err != nil {
		return s.reportInvalid(id, err)
	}
	s.member = true
	s.media.setView(view)
	serial := s.media.addReceiveKeys(keys, s.options.Now())
	s.options.Logger.Debug("epoch entered", "epoch", view.Epoch, "members", len(view.Members), "transition", id)
	return s.prepare(pendingTransition{id: id, version: s.version, secret: keys[s.options.UserID], serial: serial})
}

// reportInvalid reports a message that we could not process to the gateway (op 31), which removes us and adds us again
// with the new key package that we send along. Our previous keys remain in use until the others have moved on.
func (s *Session) reportInvalid(id uint16, cause error) error {
	s.options.SendJSON(OpInvalid, Transition{ID: id})
	err := errors.Join(cause, s.sendKeyPackage())
	p := pendingTransition{id: id, version: s.version, serial: noEpoch}
	if id == 0 {
		s.media.useSendKeys(p, s.options.Now())
		return err
	}
	s.addPending(p)
	return err
}

func (s *Session) exportKeys(view GroupView) (map[uint64][]byte, error) {
	keys := make(map[uint64][]byte, len(view.Members))
	for user := range view.Members {
		secret, err := s.exportSecret(user)
		if err != nil {
			return nil, err
		}
		keys[user] = secret
	}
	if keys[s.options.UserID] == nil {
		return nil, fmt.Errorf("make keys: user %d, ourselves, is not in the group", s.options.UserID)
	}
	return keys, nil
}

func (s *Session) exportSecret(user uint64) ([]byte, error) {
	context := binary.LittleEndian.AppendUint64(nil, user) // unlike all else
	return s.group.Export("Discord Secure Frames v0", context, keySize)
}

// pendingTransition is an announced transition: what we send changes when the gateway executes it.
type pendingTransition struct {
	id      uint16
	version int
	secret  []byte // of our frames; nil if we have none yet, or the version needs none
	serial  int    // of the new epoch; keys of earlier epochs then become old
}

// prepareTransition handles op 21. A transition with id 0, for people who are alone, is executed immediately.
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

// prepare stores a transition and reports that we are ready for it, or executes it if its id is 0.
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

// execute handles op 22. Transitions announced before this one become void.
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
