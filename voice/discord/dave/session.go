package dave

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// ErrNotReady is returned by [Session.Encrypt] and [Session.Decrypt] while there are no keys for the frame. The frame
// must be dropped or kept for later; it must not be sent unencrypted.
var ErrNotReady = errors.New("the call has no keys for this frame yet")

// MaxVersion is the version of the protocol to announce when identifying to the voice gateway.
const MaxVersion = 1

// Opcodes of the voice gateway that belong to the protocol.
const (
	OpPrepareTransition = 21 // JSON, from the gateway
	OpExecuteTransition = 22 // JSON, from the gateway
	OpTransitionReady   = 23 // JSON, to the gateway
	OpPrepareEpoch      = 24 // JSON, from the gateway
	OpExternalSender    = 25 // binary, from the gateway
	OpKeyPackage        = 26 // binary, to the gateway
	OpProposals         = 27 // binary, from the gateway
	OpCommitWelcome     = 28 // binary, to the gateway
	OpAnnounceCommit    = 29 // binary, from the gateway
	OpWelcome           = 30 // binary, from the gateway
	OpInvalid           = 31 // JSON, to the gateway
)

// Transition is the data of JSON messages that are about a transition.
type Transition struct {
	ID      uint16 `json:"transition_id"`
	Version int    `json:"protocol_version,omitempty"`
}

// Options is what a [Session] needs.
type Options struct {
	UserID     uint64                        // our own
	GroupID    uint64                        // the channel's id; of a stream, its server's id less one
	Key        *SigningKey                   // shared between the connections of one user; nil creates one
	SendBinary func(op byte, payload []byte) // a binary message to the voice gateway; op goes first on the wire
	SendJSON   func(op int, d any)           // a JSON message to the voice gateway
	Now        func() time.Time              // nil is time.Now
	Logger     *slog.Logger                  // nil is silent

	// RequireEncryption forbids sending in version 0, which is unencrypted.
	RequireEncryption bool
}

// Session is our membership in the encrypted group of one voice connection. Its methods are safe for concurrent use,
// but gateway messages must be passed in order. Select, HandleJSON and HandleBinary call the functions of [Options]
// before they return; these must not call back.
//
// Errors of HandleJSON and HandleBinary are only for the log: the session has already reacted, and continues.
type Session struct {
	options Options

	handleMu   sync.Mutex // one message at a time; guards all down to known
	version    int        // of the group that is being made, as announced last
	sender     *ExternalSender
	keyPackage *KeyPackageBundle
	group      *Group
	member     bool // the group is not ours alone
	pending    []pendingTransition
	known      map[uint64]bool
	knownMu    sync.Mutex

	media mediaKeys
}

// New returns a session that neither sends nor receives until [Session.Select].
func New(o Options) (*Session, error) {
	if o.Key == nil {
		key, err := NewSigningKey()
		if err != nil {
			return nil, err
		}
		o.Key = key
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	s := &Session{options: o, known: make(map[uint64]bool)}
	s.media.reset(-1) // until the gateway has chosen a version
	return s, nil
}

// Select sets the version that the gateway chose (op 4) and starts again. Above 0 it sends our key package (op 26).
func (s *Session) Select(version int) error {
	s.handleMu.Lock()
	defer s.handleMu.Unlock()
	if version < 0 || version > MaxVersion {
		return fmt.Errorf("begin encryption: the gateway wants version %d of it, and this program knows %d", version,
			MaxVersion)
	}
	s.version, s.pending = version, nil
	s.group, s.keyPackage, s.member = nil, nil, false
	s.media.reset(version)
	if version == 0 {
		return nil
	}
	return s.sendKeyPackage()
}

// sendKeyPackage drops the group, sends a new key package, and founds a group of our own that others can be added to.
// Keys in use stay in use until a transition replaces them.
func (s *Session) sendKeyPackage() error {
	ticket, err := NewKeyPackageBundle(s.options.UserID, s.options.Key)
	if err != nil {
		return err
	}
	s.keyPackage, s.group, s.member = ticket, nil, false
	s.media.setView(GroupView{})
	s.options.SendBinary(OpKeyPackage, ticket.KeyPackage())
	return s.createGroup()
}

// createGroup creates our own group once everything that it needs is known.
func (s *Session) createGroup() error {
	if s.keyPackage == nil || s.sender == nil || s.member {
		return nil
	}
	var err error
	s.group, err = CreateGroup(s.options.GroupID, s.keyPackage, *s.sender)
	return err
}

// HandleJSON handles ops 21, 22 and 24.
func (s *Session) HandleJSON(op int, d json.RawMessage) error {
	s.handleMu.Lock()
	defer s.handleMu.Unlock()
	var m struct {
		Transition
		Epoch uint64 `json:"epoch"`
	}
	if err := json.Unmarshal(d, &m); err != nil {
		return fmt.Errorf("read op %d of the voice gateway: %w", op, err)
	}
	if m.Version < 0 || m.Version > MaxVersion {
		return fmt.Errorf("take op %d of the voice gateway: version %d is not known here", op, m.Version)
	}
	switch op {
	case OpPrepareTransition:
		return s.prepareTransition(m.Transition)
	case OpExecuteTransition:
		return s.execute(m.ID)
	case OpPrepareEpoch:
		if m.Version == 0 { // or it creates none: keys for unencrypted frames make no sense
			return errors.New("take op 24 of the voice gateway: an epoch without encryption")
		}
		s.version = m.Version
		if m.Epoch != 1 {
			return nil
		}
		return s.sendKeyPackage()
	}
	return fmt.Errorf("op %d of the voice gateway is not about encryption", op)
}

// HandleBinary handles ops 25, 27, 29 and 30. payload is what follows the opcode; it is not kept.
func (s *Session) HandleBinary(op byte, payload []byte) error {
	s.handleMu.Lock()
	defer s.handleMu.Unlock()
	switch op {
	case OpExternalSender:
		return s.handleExternalSender(payload)
	case OpProposals:
		return s.handleProposals(payload)
	case OpAnnounceCommit, OpWelcome:
		if len(payload) < 2 {
			return fmt.Errorf("read op %d of the voice gateway: it is too short", op)
		}
		id, message := uint16(payload[0])<<8|uint16(payload[1]), payload[2:]
		if op == OpWelcome {
			return s.handleWelcome(id, message)
		}
		return s.handleCommit(id, message)
	}
	return fmt.Errorf("binary op %d of the voice gateway is not about encryption", op)
}

// Connected adds users to the call (op 11). Only they and ourselves can become members of the group.
func (s *Session) Connected(users ...uint64) {
	s.knownMu.Lock()
	defer s.knownMu.Unlock()
	for _, u := range users {
		s.known[u] = true
	}
}

// Disconnected removes a user from the call (op 13).
func (s *Session) Disconnected(user uint64) {
	s.knownMu.Lock()
	defer s.knownMu.Unlock()
	delete(s.known, user)
}

func (s *Session) isKnown(user uint64) bool {
	s.knownMu.Lock()
	defer s.knownMu.Unlock()
	return user == s.options.UserID || s.known[user]
}
