package delivery

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/thomas-vilte/mls-go/ciphersuite"
)

// Opcodes of the voice gateway that the service sends.
const (
	OpPrepareTransition = 21 // JSON
	OpExecuteTransition = 22 // JSON
	OpPrepareEpoch      = 24 // JSON
	OpExternalSender    = 25 // binary
	OpProposals         = 27 // binary
	OpAnnounceCommit    = 29 // binary
	OpWelcome           = 30 // binary
)

const cipherSuite = ciphersuite.MLS128DHKEMP256

// Message is a message of the voice gateway to one member.
type Message struct {
	To      uint64
	Op      byte
	Payload []byte // of a binary message: the bytes after the opcode
	Data    any    // of a JSON message: "d"; nil for a binary one
}

// PrepareTransition is the data of op 21.
type PrepareTransition struct {
	Version int    `json:"protocol_version"`
	ID      uint16 `json:"transition_id"`
}

// ExecuteTransition is the data of op 22.
type ExecuteTransition struct {
	ID uint16 `json:"transition_id"`
}

// PrepareEpoch is the data of op 24.
type PrepareEpoch struct {
	Version int    `json:"protocol_version"`
	Epoch   uint64 `json:"epoch"`
}

// member is a user whose connection has selected a protocol.
type member struct {
	max   int                // highest supported version
	offer *offeredKeyPackage // their key package, until they are added with it
	stale bool               // they cannot follow the group: remove them when they are added again
	told  bool               // they are alone and have been notified
}

// Service is the delivery service of one group. Its methods are safe for concurrent use; they call the function for
// messages in order, which must not call them. Set the exported fields before the first call.
type Service struct {
	// Tamper, if set, may replace each message before it is sent.
	Tamper func(Message) []Message
	// Hold keeps commits until Release, so that several of one epoch compete.
	Hold bool
	// AnnounceAll announces every commit of an epoch, including those that are too late.
	AnnounceAll bool

	id   uint64
	send func(Message)

	mu          sync.Mutex
	key         *ciphersuite.SignaturePrivateKey
	order       []uint64 // users in the order in which they joined
	members     map[uint64]*member
	version     int
	established bool
	epoch       uint64
	leaves      []uint64                      // by leaf index; 0 is blank
	open        map[string]*proposal          // proposals of this epoch by reference
	turn        []string                      // their references, in order
	next        uint16                        // id of the next transition
	waiting     map[uint16]*pendingTransition // transitions that are not executed yet
	held        []func() error
}

// pendingTransition is an announced transition.
type pendingTransition struct {
	to      []uint64 // members who execute it
	awaited map[uint64]bool
}

// New returns the service of a group with a new signing key.
func New(id uint64, send func(Message)) (*Service, error) {
	key, err := ciphersuite.GenerateSignaturePrivateKeyForCS(cipherSuite)
	if err != nil {
		return nil, fmt.Errorf("make the external sender's key: %w", err)
	}
	return &Service{
		id: id, send: send, key: key, version: -1, members: make(map[uint64]*member),
		open: make(map[string]*proposal), waiting: make(map[uint16]*pendingTransition),
	}, nil
}

// Join adds a user whose connection selects its protocol, and who supports versions up to highest. It returns the
// version for their op 4, and sends nothing: call [Service.Selected] after op 4 was sent.
func (s *Service) Join(user uint64, highest int) (version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.members[user]; again {
		s.removeMember(user)
	}
	s.order = append(s.order, user)
	s.members[user] = &member{max: highest, stale: s.leafOf(user) >= 0}
	wanted := s.wanted()
	if s.version < 0 {
		s.version = wanted
	}
	return wanted
}

// Selected notes that op 4 was sent to user. They receive the external sender (op 25), and the others are moved to
// another version if necessary.
func (s *Service) Selected(user uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.members[user] == nil {
		return
	}
	if s.version > 0 && s.wanted() == 0 {
		s.downgrade(user)
		return
	}
	if s.version > 0 {
		s.deliver(Message{To: user, Op: OpExternalSender, Payload: s.externalSender()})
	}
}

// Leave notes that the connection of user is closed.
func (s *Service) Leave(user uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeMember(user)
}

func (s *Service) removeMember(user uint64) {
	if s.members[user] == nil {
		return
	}
	delete(s.members, user)
	s.order = slices.DeleteFunc(s.order, func(u uint64) bool { return u == user })
	for id := range s.waiting {
		s.ready(user, id)
	}
	switch {
	case len(s.members) == 0:
		s.version = -1
		s.dissolve()
	case s.version == 0 && s.wanted() > 0:
		s.version = s.wanted()
		s.renew()
	case s.version > 0 && s.established && len(s.members) == 1:
		s.aloneAgain()
	case s.version > 0:
		s.proposeRemoval(user)
	}
}

// wanted returns the highest version that all members support.
func (s *Service) wanted() int {
	version := 1
	for _, m := range s.members {
		version = min(version, m.max)
	}
	return version
}

// KeyPackage handles op 26.
func (s *Service) KeyPackage(user uint64, payload []byte) error {
	o, err := readOffer(user, payload)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.members[user]
	if m == nil || s.version == 0 {
		return errors.New("a key package from somebody who is not expected to send one")
	}
	m.offer = o
	if s.established {
		s.proposeAdd(user)
	} else {
		s.addToNewGroup(user)
	}
	return nil
}

// Ready handles op 23.
func (s *Service) Ready(user uint64, transition uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready(user, transition)
}

// Invalid handles op 31: user could not process a commit or Welcome. They are removed, and added again with their
// next key package.
func (s *Service) Invalid(user uint64, transition uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.members[user]; m != nil {
		m.stale, m.offer = s.leafOf(user) >= 0, nil
	}
	s.ready(user, transition)
	if s.established && len(s.inGroup()) == 0 {
		s.renew()
	}
}

// Execute executes all pending transitions.
func (s *Service) Execute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]uint16, 0, len(s.waiting))
	for id := range s.waiting {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		s.execute(id)
	}
}

// Epoch returns the epoch of the group, 0 before there is one.
func (s *Service) Epoch() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// Settled reports whether all members are in the group and nothing is pending.
func (s *Service) Settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.waiting) > 0:
		return false
	case s.version <= 0, len(s.members) == 1 && !s.established:
		return true
	case len(s.open) > 0:
		return false
	}
	for user, m := range s.members {
		if s.leafOf(user) < 0 || m.stale {
			return false
		}
	}
	return s.established
}

func (s *Service) deliver(m Message) {
	if s.Tamper == nil {
		s.send(m)
		return
	}
	for _, m := range s.Tamper(m) {
		s.send(m)
	}
}

// transition returns the id of a new transition, to be executed by all of to. It announces nothing.
func (s *Service) transition(to []uint64) uint16 {
	s.next++
	if s.next == 0 {
		s.next++ // 0 is for members who are alone
	}
	d := &pendingTransition{to: slices.Clone(to), awaited: make(map[uint64]bool)}
	for _, user := range to {
		d.awaited[user] = true
	}
	s.waiting[s.next] = d
	return s.next
}

func (s *Service) ready(user uint64, id uint16) {
	d := s.waiting[id]
	if d == nil {
		return
	}
	delete(d.awaited, user)
	if len(d.awaited) == 0 {
		s.execute(id)
	}
}

func (s *Service) execute(id uint16) {
	d := s.waiting[id]
	delete(s.waiting, id)
	for _, user := range d.to {
		if s.members[user] != nil {
			s.deliver(Message{To: user, Op: OpExecuteTransition, Data: ExecuteTransition{ID: id}})
		}
	}
}

// downgrade moves all members, except the newcomer who never started, to version 0.
func (s *Service) downgrade(newcomer uint64) {
	s.version = 0
	s.dissolve()
	others := slices.DeleteFunc(slices.Clone(s.order), func(u uint64) bool { return u == newcomer })
	if len(others) == 0 {
		return
	}
	id := s.transition(others)
	for _, user := range others {
		s.deliver(Message{To: user, Op: OpPrepareTransition, Data: PrepareTransition{ID: id}})
	}
}

// renew makes all members create a new group, which they use once they are in it.
func (s *Service) renew() {
	s.dissolve()
	for _, user := range slices.Clone(s.order) {
		s.deliver(Message{To: user, Op: OpPrepareEpoch, Data: PrepareEpoch{Version: s.version, Epoch: 1}})
		s.deliver(Message{To: user, Op: OpExternalSender, Payload: s.externalSender()})
	}
}

// aloneAgain dissolves the group of the last remaining member.
func (s *Service) aloneAgain() {
	s.dissolve()
	s.members[s.order[0]].told = true
	s.deliver(Message{To: s.order[0], Op: OpPrepareEpoch, Data: PrepareEpoch{Version: s.version, Epoch: 1}})
	s.deliver(Message{To: s.order[0], Op: OpPrepareTransition, Data: PrepareTransition{Version: s.version}})
}

// dissolve deletes the group and everything pending.
func (s *Service) dissolve() {
	s.established, s.epoch, s.leaves = false, 0, nil
	s.forgetProposals()
	clear(s.waiting)
	s.held = nil
	for _, m := range s.members {
		m.offer, m.stale = nil, false
	}
}

func (s *Service) leafOf(user uint64) int { return slices.Index(s.leaves, user) }

// inGroup returns the users who are in the group.
func (s *Service) inGroup() []uint64 {
	return slices.DeleteFunc(slices.Clone(s.order), func(u uint64) bool { return s.leafOf(u) < 0 || s.members[u].stale })
}

// pending returns the users who have created a group of their own.
func (s *Service) pending() []uint64 {
	return slices.DeleteFunc(slices.Clone(s.order), func(u uint64) bool { return s.members[u].offer == nil })
}

func bigEndian(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
