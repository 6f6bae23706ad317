package delivery

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/thomas-vilte/mls-go/framing"
)

// errLate means that another commit was first.
var errLate = errors.New("a commit for an epoch that is over")

// Commit handles op 28. The first valid commit of an epoch is announced. The error says why this one is not; the real
// server would not respond.
func (s *Service) Commit(user uint64, payload []byte) error {
	c, err := readCommit(payload)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Hold {
		s.held = append(s.held, func() error { return s.applyCommit(user, c) })
		return nil
	}
	return s.applyCommit(user, c)
}

// Held returns the number of commits that wait for Release.
func (s *Service) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Release processes the held commits in the given order of indices, by default in order of arrival. Later commits are
// processed at once. The error joins those of [Service.Commit] for each.
func (s *Service) Release(order ...int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held, s.Hold = nil, false
	if len(order) == 0 {
		for i := range held {
			order = append(order, i)
		}
	}
	var errs []error
	for _, i := range order {
		errs = append(errs, held[i]())
	}
	return errors.Join(errs...)
}

func (s *Service) applyCommit(user uint64, c *commitment) error {
	if err := s.checkCommit(user, c); err != nil {
		if errors.Is(err, errLate) && s.AnnounceAll {
			s.announce(s.inGroup(), s.next, c)
		}
		return err
	}
	s.accept(user, c)
	return nil
}

func (s *Service) checkCommit(user uint64, c *commitment) error {
	leaf, required := 0, make(map[string]bool)
	for _, ref := range s.turn {
		if s.established || s.open[ref].adds != user {
			required[ref] = true
		}
	}
	if s.established {
		leaf = s.leafOf(user)
	}
	switch {
	case s.members[user] == nil || s.version <= 0 || leaf < 0 || !s.established && s.members[user].offer == nil:
		return errors.New("a commit from somebody who may make none")
	case !bytes.Equal(c.content.GroupID, bigEndian(s.id)):
		return errors.New("a commit for another group")
	case c.content.Epoch < s.epoch:
		return errLate
	case c.content.Epoch > s.epoch:
		return fmt.Errorf("a commit for epoch %d in epoch %d", c.content.Epoch, s.epoch)
	case c.content.Sender.Type != framing.SenderTypeMember || c.content.Sender.LeafIndex != uint32(leaf):
		return errors.New("a commit in somebody else's name")
	case len(c.refs) == 0 || len(c.refs) != len(required):
		return fmt.Errorf("a commit of %d proposals, and there are %d", len(c.refs), len(required))
	}
	for _, ref := range c.refs {
		if !required[ref] {
			return errors.New("a commit of a proposal that nobody made, or twice")
		}
		delete(required, ref)
		if p := s.open[ref]; p.offer != nil && c.welcomeFor(p.offer) == nil {
			return errors.New("a commit without a Welcome for somebody it adds")
		}
	}
	return nil
}

// accept makes a commit the next epoch, and announces it.
func (s *Service) accept(user uint64, c *commitment) {
	stay := []uint64{user}
	if s.established {
		stay = s.inGroup()
	} else {
		s.leaves = []uint64{user}
	}
	welcomed := s.assignLeaves(c)
	stay = slices.DeleteFunc(stay, func(u uint64) bool { return s.leafOf(u) < 0 })
	s.established = true
	s.epoch++
	s.forgetProposals()

	var guests []uint64
	letters := make(map[uint64][]byte)
	for _, p := range welcomed {
		if m := s.members[p.adds]; m != nil && m.offer == p.offer {
			guests = append(guests, p.adds)
			letters[p.adds] = c.welcomeFor(p.offer)
			m.offer, m.stale = nil, false
		}
	}
	stay = slices.DeleteFunc(stay, func(u uint64) bool { return letters[u] != nil })
	if m := s.members[user]; m != nil {
		m.offer = nil // the founder's, or nil
	}
	id := s.transition(slices.Concat(stay, guests))
	s.announce(stay, id, c)
	for _, guest := range guests {
		s.deliver(Message{To: guest, Op: OpWelcome, Payload: append(binary.BigEndian.AppendUint16(nil, id),
			letters[guest]...)})
	}
}

// assignLeaves assigns leaves as the commit does: removed members free theirs, added members get the first free one.
func (s *Service) assignLeaves(c *commitment) (welcomed []*proposal) {
	for _, ref := range c.refs {
		if p := s.open[ref]; p.offer == nil {
			s.leaves[p.leaf] = 0
		}
	}
	for _, ref := range c.refs {
		p := s.open[ref]
		if p.offer == nil {
			continue
		}
		free := slices.Index(s.leaves, 0)
		if free < 0 {
			free = len(s.leaves)
			s.leaves = append(s.leaves, 0)
		}
		s.leaves[free] = p.adds
		welcomed = append(welcomed, p)
	}
	for n := len(s.leaves); n > 0 && s.leaves[n-1] == 0; n-- {
		s.leaves = s.leaves[:n-1]
	}
	return welcomed
}

// announce sends op 29.
func (s *Service) announce(to []uint64, id uint16, c *commitment) {
	for _, user := range to {
		s.deliver(Message{To: user, Op: OpAnnounceCommit, Payload: append(binary.BigEndian.AppendUint16(nil, id),
			c.message...)})
	}
}
