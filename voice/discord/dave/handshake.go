package dave

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// handleExternalSender takes op 25: whose proposals count. It holds for the groups that come; one that we are in has its own.
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

// handleProposals takes op 27, and answers with a commit of all that is proposed (op 28): every member does, the gateway picks one.
// Without a group there is nothing to do; a Welcome will come.
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

// handleCommit takes op 29, the commit that the gateway has picked. What we have offered ourselves for that epoch is void with it.
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
	g, err := JoinGroup(s.options.GroupID, message, s.keyPackage, *s.sender)
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

// reportInvalid tells the gateway of what we could not follow (op 31), so that it removes us and adds us anew, by the new key package that
// goes out with it. Our keys of before serve until the others have moved on.
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

// exportKeys exports the secret of each member's frames.
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
