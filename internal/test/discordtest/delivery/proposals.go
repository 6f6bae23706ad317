package delivery

import (
	"slices"

	"github.com/thomas-vilte/mls-go/group"
)

// proposal is an open proposal of this epoch.
type proposal struct {
	message []byte
	adds    uint64             // user, or 0
	offer   *offeredKeyPackage // of the user it adds
	removes uint64             // user, or 0
	leaf    int                // of the user it removes
}

// addToNewGroup adds a user with a new key package while there is no group: all waiting users create groups of their
// own and propose to add the others; the gateway picks one group.
func (s *Service) addToNewGroup(user uint64) {
	others := slices.DeleteFunc(s.pending(), func(u uint64) bool { return u == user })
	s.revoke(others, func(p *proposal) bool { return p.adds == user })
	var known [][]byte
	for _, ref := range s.turn {
		known = append(known, s.open[ref].message)
	}
	s.propose(others, s.add(user))
	s.append(user, known)
	if len(s.members) == 1 && !s.members[user].told {
		s.deliver(Message{To: user, Op: OpPrepareTransition, Data: PrepareTransition{Version: s.version}})
	}
}

// proposeAdd proposes to add a user with a new key package, and to remove their old leaf, if any.
func (s *Service) proposeAdd(user uint64) {
	to := s.inGroup()
	s.revoke(to, func(p *proposal) bool { return p.adds == user })
	var wanted []*proposal
	if s.leafOf(user) >= 0 && !s.isOpen(func(p *proposal) bool { return p.removes == user }) {
		wanted = append(wanted, s.remove(user))
	}
	s.propose(to, append(wanted, s.add(user))...)
}

// proposeRemoval proposes to remove a user who has left, or revokes the proposal to add them.
func (s *Service) proposeRemoval(user uint64) {
	to := s.inGroup()
	if !s.established {
		to = s.pending()
	}
	if s.established && len(to) == 0 {
		s.renew()
		return
	}
	s.revoke(to, func(p *proposal) bool { return p.adds == user })
	if s.leafOf(user) >= 0 && !s.isOpen(func(p *proposal) bool { return p.removes == user }) {
		s.propose(to, s.remove(user))
	}
}

func (s *Service) add(user uint64) *proposal {
	return &proposal{adds: user, offer: s.members[user].offer}
}

func (s *Service) remove(user uint64) *proposal {
	return &proposal{removes: user, leaf: s.leafOf(user)}
}

func (s *Service) isOpen(is func(*proposal) bool) bool {
	return slices.ContainsFunc(s.turn, func(ref string) bool { return is(s.open[ref]) })
}

// propose signs and sends proposals.
func (s *Service) propose(to []uint64, proposals ...*proposal) {
	var messages [][]byte
	for _, p := range proposals {
		wanted := group.NewRemoveProposal(group.NewLeafNodeIndex(uint32(p.leaf)))
		if p.offer != nil {
			wanted = group.NewAddProposal(p.offer.kp)
		}
		message, ref, err := s.sign(wanted)
		if err != nil {
			continue // the library signs any proposal it is given
		}
		p.message = message
		s.open[ref] = p
		s.turn = append(s.turn, ref)
		messages = append(messages, message)
	}
	for _, user := range to {
		s.append(user, messages)
	}
}

// append sends op 27 with proposals to append.
func (s *Service) append(to uint64, messages [][]byte) {
	if len(messages) > 0 {
		s.deliver(Message{To: to, Op: OpProposals, Payload: vector([]byte{0}, slices.Concat(messages...))})
	}
}

// revoke removes the proposals that which selects, and sends op 27 to revoke them.
func (s *Service) revoke(to []uint64, which func(*proposal) bool) {
	var refs []byte
	s.turn = slices.DeleteFunc(s.turn, func(ref string) bool {
		if !which(s.open[ref]) {
			return false
		}
		delete(s.open, ref)
		refs = vector(refs, []byte(ref))
		return true
	})
	if len(refs) == 0 {
		return
	}
	for _, user := range to {
		s.deliver(Message{To: user, Op: OpProposals, Payload: vector([]byte{1}, refs)})
	}
}

func (s *Service) forgetProposals() {
	clear(s.open)
	s.turn = nil
}

// Intrude proposes to all members to add a user who is not in the call, as a server that wants to eavesdrop would.
func (s *Service) Intrude(user uint64, keyPackage []byte) error {
	o, err := readOffer(user, keyPackage)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	message, _, err := s.sign(group.NewAddProposal(o.kp))
	if err != nil {
		return err
	}
	for _, to := range s.order {
		s.append(to, [][]byte{message})
	}
	return nil
}
