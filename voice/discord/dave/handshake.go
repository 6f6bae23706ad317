package dave

import (
	"encoding/binary"
	"errors"
	"fmt"

	"clank/voice/discord/dave/mls"
)

// externalSender takes op 25: whose proposals count. It holds for the groups that come; one that we are in has its own.
func (s *Session) externalSender(payload []byte) error {
	sender, err := mls.ParseSender(payload)
	if err != nil {
		return err
	}
	if s.member {
		return nil
	}
	s.sender = &sender
	return s.found()
}

// proposals takes op 27, and answers with a commit of all that is proposed (op 28): every member does, the gateway picks one.
// Without a group there is nothing to do; a Welcome will come.
func (s *Session) proposals(payload []byte) error {
	change, err := mls.ParseChange(payload)
	if err != nil || s.group == nil {
		return err
	}
	for _, p := range change.Proposals {
		if err := s.group.Append(p, s.isKnown); err != nil {
			if errors.Is(err, mls.ErrOtherEpoch) && !s.member {
				return nil // it is about a group that we are yet to be added to
			}
			return err
		}
	}
	var unknown error // a proposal that we have refused may be revoked; the others are committed all the same
	for _, ref := range change.Forget {
		unknown = errors.Join(unknown, s.group.Revoke(ref))
	}
	commit, welcome, err := s.group.Commit()
	if err == nil && commit != nil {
		s.options.SendBinary(OpCommitWelcome, append(commit, welcome...))
	}
	return errors.Join(unknown, err)
}

// commit takes op 29, the commit that the gateway has picked. What we have offered ourselves for that epoch is void with it.
func (s *Session) commit(id uint16, message []byte) error {
	if s.group == nil {
		return nil // we are not in the group; a Welcome will come
	}
	err := s.group.Apply(message)
	switch {
	case errors.Is(err, mls.ErrNotOurs), errors.Is(err, mls.ErrOtherEpoch):
		s.options.Logger.Debug("commit passed over", "reason", err.Error(), "transition", id)
		return nil
	case err != nil:
		return s.invalid(id, err)
	}
	if s.member {
		s.ticket = nil // of no use any more: we are in the group, and it has moved on
	}
	return s.enter(id)
}

// welcome takes op 30: we are added to a group that somebody else made, whatever we had begun.
func (s *Session) welcome(id uint16, message []byte) error {
	if s.ticket == nil || s.sender == nil {
		return s.invalid(id, errors.New("join by a Welcome: there is no key package out that it could be for"))
	}
	g, err := mls.Join(s.options.GroupID, message, s.ticket, *s.sender)
	if err != nil {
		return s.invalid(id, err)
	}
	s.group, s.ticket = g, nil
	return s.enter(id)
}

// enter makes the keys of the group's new epoch: for receiving at once, for sending from the transition on.
func (s *Session) enter(id uint16) error {
	view, err := s.group.View()
	if err != nil {
		return s.invalid(id, err)
	}
	keys, err := s.keys(view)
	if err != nil {
		return s.invalid(id, err)
	}
	s.member = true
	s.media.identify(view)
	serial := s.media.receive(keys, s.options.Now())
	s.options.Logger.Debug("epoch entered", "epoch", view.Epoch, "members", len(view.Members), "transition", id)
	return s.prepare(prepared{id: id, version: s.version, secret: keys[s.options.UserID], serial: serial})
}

// invalid tells the gateway of what we could not follow (op 31), so that it removes us and adds us anew, by the new key package that
// goes out with it. Our keys of before serve until the others have moved on.
func (s *Session) invalid(id uint16, cause error) error {
	s.options.SendJSON(OpInvalid, Transition{ID: id})
	err := errors.Join(cause, s.begin())
	p := prepared{id: id, version: s.version, serial: none}
	if id == 0 {
		s.media.send(p, s.options.Now())
		return err
	}
	s.note(p)
	return err
}

// keys exports the secret of each member's frames.
func (s *Session) keys(view mls.View) (map[uint64][]byte, error) {
	keys := make(map[uint64][]byte, len(view.Members))
	for user := range view.Members {
		secret, err := s.export(user)
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

func (s *Session) export(user uint64) ([]byte, error) {
	context := binary.LittleEndian.AppendUint64(nil, user) // unlike all else
	return s.group.Export("Discord Secure Frames v0", context, keySize)
}
