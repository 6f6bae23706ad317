package voicetest

import (
	"fmt"

	"clank/voice/discord/dave"
)

// DAVESession is a member's part in the encryption.
type DAVESession struct{ *dave.Session }

// NewDAVESession makes a session; it is what [MemberOptions.Privacy] wants.
func NewDAVESession(l PrivacyConfig) (Privacy, error) {
	s, err := dave.New(dave.Options{UserID: l.User, GroupID: l.Group, SendBinary: l.SendBinary, SendJSON: l.SendJSON})
	if err != nil {
		return nil, fmt.Errorf("begin end-to-end encryption: %w", err)
	}
	return &DAVESession{s}, nil
}

// daveCodecs are those of which the encryption leaves something readable.
var daveCodecs = map[string]dave.Codec{"opus": dave.Opus, "VP8": dave.VP8}

// Encrypt makes of a frame what is sent.
func (s *DAVESession) Encrypt(codec string, frame []byte) ([]byte, error) {
	c, ok := daveCodecs[codec]
	if !ok {
		return nil, fmt.Errorf("no such codec: %q", codec)
	}
	return s.Session.Encrypt(c, frame)
}

// Decrypt makes of what user sent what it was.
func (s *DAVESession) Decrypt(user uint64, codec string, frame []byte) ([]byte, error) {
	c, ok := daveCodecs[codec]
	if !ok {
		return nil, fmt.Errorf("no such codec: %q", codec)
	}
	return s.Session.Decrypt(user, c, frame)
}
