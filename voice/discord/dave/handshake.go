package dave

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// handleExternalSender takes op 25: whose proposals count. It holds for the groups that come; one that we are in has
// its own.
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

// handleProposals takes op 27, and answers with a commit of all that is proposed (op 28): every member does, the
// gateway picks one. Without a group there is nothing to do; a Welcome will come.
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
	var unknown error // a proposal that we have refused may be revoked; the others are committed all the same
	for _, ref := range change.Revoked {
		unknown = errors.Join(unknown, s.group.Revoke(ref))
	}
	commit, welcome, err := s.group.Commit()
	if err == nil && commit != nil {
		s.options.SendBinary(OpCommitWelcome, append(commit, welcome...))
	}
	return errors.Join(unknown, err)
}

// handleCommit takes op 29, the commit that the gateway has picked. What we have offered ourselves for that epoch is
// void with it.
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
		s.keyPackage = nil // of no use any more: we are in the group, and it has moved on
	}
	return s.enterEpoch(id)
}

// handleWelcome takes op 30: we are added to a group that somebody else made, whatever we had begun.
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

// enterEpoch makes the keys of the group's new epoch: for receiving at once, for sending from the transition on.
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

// reportInvalid tells the gateway of what we could not follow (op 31), so that it removes us and adds us anew, by the
// new key package that goes out with it. Our keys of before serve until the others have moved on.
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
