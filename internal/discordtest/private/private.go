// Package private gives a member of an emulated call the end-to-end encryption of ours, so that tests of a whole call need
// no other program. It is not a second opinion: for that, the other side is a program of other hands.
package private

import (
	"fmt"

	"clank/internal/discordtest/member"
	"clank/voice/discord/dave"
)

// Session is a member's part in the encryption.
type Session struct{ *dave.Session }

// Ours makes a session; it is what [member.Options.Privacy] wants.
func Ours(l member.Line) (member.Privacy, error) {
	s, err := dave.New(dave.Options{UserID: l.User, GroupID: l.Group, SendBinary: l.SendBinary, SendJSON: l.SendJSON})
	if err != nil {
		return nil, fmt.Errorf("begin end-to-end encryption: %w", err)
	}
	return &Session{s}, nil
}

// codecs are those of which the encryption leaves something readable.
var codecs = map[string]dave.Codec{"opus": dave.Opus, "VP8": dave.VP8}

// Encrypt makes of a frame what is sent.
func (s *Session) Encrypt(codec string, frame []byte) ([]byte, error) {
	c, ok := codecs[codec]
	if !ok {
		return nil, fmt.Errorf("no such codec: %q", codec)
	}
	return s.Session.Encrypt(c, frame)
}

// Decrypt makes of what user sent what it was.
func (s *Session) Decrypt(user uint64, codec string, frame []byte) ([]byte, error) {
	c, ok := codecs[codec]
	if !ok {
		return nil, fmt.Errorf("no such codec: %q", codec)
	}
	return s.Session.Decrypt(user, c, frame)
}
