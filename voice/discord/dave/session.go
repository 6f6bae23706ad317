package dave

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"
)

// ErrNotReady is what [Session.Encrypt] and [Session.Decrypt] return while members still agree on keys. The frame must be dropped
// or kept for later; it must not be sent as it is.
var ErrNotReady = errors.New("the call has no keys yet")

// MaxVersion is the version of the protocol to announce when identifying to the voice gateway.
const MaxVersion = 1

// Options is what a [Session] needs.
type Options struct {
	UserID     uint64                        // our own
	GroupID    uint64                        // the channel's id; of a stream, its server's id less one
	Key        *SigningKey                   // shared between the connections of one person; nil makes a new one
	SendBinary func(op byte, payload []byte) // a binary message to the voice gateway; op goes first on the wire
	SendJSON   func(op int, d any)           // a JSON message to the voice gateway
	Now        func() time.Time              // nil is time.Now
	Logger     *slog.Logger                  // nil is silent
}

// SigningKey is the key with which one person signs in all their groups.
type SigningKey struct{}

// NewSigningKey makes a key.
func NewSigningKey() (*SigningKey, error) { return &SigningKey{}, nil }

// Codec says how a frame was encoded, and so which parts of it stay readable for those who pass it on.
type Codec int

// The codecs.
const (
	Opus Codec = iota
	VP8
	H264
)

// Session is our membership in the encrypted group of one voice connection. Its methods are safe for concurrent use; messages of the
// gateway must come in order. The functions of [Options] are called by Select, HandleJSON and HandleBinary before they return.
type Session struct{}

// New makes a session that is not encrypted until [Session.Select].
func New(_ Options) (*Session, error) { return &Session{}, nil }

// Select takes the version that the gateway has chosen (op 4). Above 0 it sends our key package (op 26).
func (s *Session) Select(_ int) error { return nil }

// HandleJSON takes ops 21, 22 and 24.
func (s *Session) HandleJSON(_ int, _ json.RawMessage) error { return nil }

// HandleBinary takes ops 25, 27, 29 and 30; payload is what follows the opcode.
func (s *Session) HandleBinary(_ byte, _ []byte) error { return nil }

// Connected tells who is in the call (op 11). Only they can become members of the group.
func (s *Session) Connected(_ ...uint64) {}

// Disconnected tells who has left the call (op 13).
func (s *Session) Disconnected(_ uint64) {}

// Encrypt makes of an encoded frame what is to be sent. With version 0 the frame comes back as it is.
func (s *Session) Encrypt(_ Codec, frame []byte) ([]byte, error) { return frame, nil }

// Decrypt makes of a frame that user sent what their encoder made. Frames of silence and, with version 0, all frames come back as they are.
func (s *Session) Decrypt(_ uint64, _ Codec, frame []byte) ([]byte, error) { return frame, nil }

// Version is the version in use for what we send: 0 is without encryption.
func (s *Session) Version() int { return 0 }

// Ready says whether frames can be sent now.
func (s *Session) Ready() bool { return true }

// Epoch is that of the group; 0 before there is one.
func (s *Session) Epoch() uint64 { return 0 }

// PrivacyCode is the voice privacy code of the call as Discord shows it: 30 digits in groups of five. It is empty while there is none.
func (s *Session) PrivacyCode() string { return "" }

// VerificationCode is the code that we and user can compare in pairs: 45 digits in groups of five. It is empty while user is no member.
func (s *Session) VerificationCode(_ uint64) string { return "" }
