package dave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxEpochs is how many epochs of keys are kept for one person, if transitions come faster than old keys are forgotten.
const maxEpochs = 4

// mediaKeys encrypts what we send and decrypts what we receive. Sending and receiving do not wait for each other.
type mediaKeys struct {
	out struct {
		sync.Mutex
		version int
		usable  bool            // the group has our keys now
		keys    *frameEncryptor // derived from secret; kept while unusable: the same secret may return
		secret  []byte
	}
	in struct {
		sync.Mutex
		people    map[uint64][]*receiveEpoch // newest last
		serial    int                        // of the epoch that came last
		cleartext bool                       // frames may come unencrypted
		until     time.Time                  // and until when; zero is without end
	}
	view struct {
		sync.Mutex
		GroupView
	}
}

// receiveEpoch is the keys of one person's frames in one epoch, and when they expire; zero means never.
type receiveEpoch struct {
	keys   *frameDecryptor
	serial int // order of arrival; a new group counts its epochs from 1 again
	until  time.Time
}

// reset forgets all keys. Only version 0 can do without.
func (m *mediaKeys) reset(version int) {
	m.out.Lock()
	m.out.version, m.out.usable, m.out.keys, m.out.secret = version, false, nil, nil
	m.out.Unlock()
	m.in.Lock()
	m.in.people, m.in.cleartext, m.in.until = make(map[uint64][]*receiveEpoch), version == 0, time.Time{}
	m.in.Unlock()
	m.setView(GroupView{})
}

// setView keeps what members can compare.
func (m *mediaKeys) setView(v GroupView) {
	m.view.Lock()
	defer m.view.Unlock()
	m.view.GroupView = v
}

func (m *mediaKeys) currentView() GroupView {
	m.view.Lock()
	defer m.view.Unlock()
	return m.view.GroupView
}

// addReceiveKeys adds the keys of a new epoch and returns the epoch's serial number.
func (m *mediaKeys) addReceiveKeys(secrets map[uint64][]byte, now time.Time) int {
	m.in.Lock()
	defer m.in.Unlock()
	for user := range m.in.people {
		m.expireEpochs(user, now)
	}
	m.in.serial++
	for user, secret := range secrets {
		epochs := append(m.in.people[user], &receiveEpoch{keys: newFrameDecryptor(secret), serial: m.in.serial})
		m.in.people[user] = epochs[max(0, len(epochs)-maxEpochs):]
	}
	return m.in.serial
}

// noEpoch is the serial number of an epoch that we have no keys of: all keys are older.
const noEpoch = math.MaxInt

// expectCleartext accepts unencrypted frames, because others may stop encrypting before we are told.
func (m *mediaKeys) expectCleartext() {
	m.in.Lock()
	defer m.in.Unlock()
	m.in.cleartext, m.in.until = true, time.Time{}
}

// useSendKeys goes through with a transition: from now on we send with its secret, or with none in version 0. Keys of
// epochs before it are kept a while, for frames that are under way.
func (m *mediaKeys) useSendKeys(p pendingTransition, now time.Time) {
	m.out.Lock()
	// A secret continues its nonces, also after a time without encryption: beginning them again would use each of them
	// twice. Once another secret took its place it does not come back: its group or epoch is over.
	if p.secret != nil && !bytes.Equal(p.secret, m.out.secret) {
		m.out.keys, m.out.secret = newFrameEncryptor(p.secret), p.secret
	}
	m.out.version, m.out.usable = p.version, p.secret != nil
	m.out.Unlock()

	m.in.Lock()
	defer m.in.Unlock()
	until := now.Add(keyRetention)
	if p.version > 0 && m.in.cleartext && m.in.until.IsZero() {
		m.in.until = until
	}
	for _, epochs := range m.in.people {
		for _, e := range epochs {
			if e.serial < p.serial && e.until.IsZero() {
				e.until = until
			}
		}
	}
}

func (m *mediaKeys) newestEpoch() int {
	m.in.Lock()
	defer m.in.Unlock()
	return m.in.serial
}

// Encrypt returns the encrypted form of an encoded frame. In version 0 this is the frame itself, or [ErrNotReady] if
// encryption is required. Without keys it returns [ErrNotReady]. H264 frames are in Annex B format; receivers get
// four-byte start codes, without delimiters and fillers.
func (s *Session) Encrypt(c Codec, frame []byte) ([]byte, error) {
	out := &s.media.out
	out.Lock()
	defer out.Unlock()
	switch {
	case !s.canSend():
		return nil, ErrNotReady
	case out.version == 0:
		return frame, nil
	}
	return out.keys.encrypt(c, frame)
}

// Decrypt returns the frame that a user's encoder produced. Frames of silence are returned unchanged, as are
// unencrypted frames in version 0 and around a change from or to it. The result may share memory with the frame.
func (s *Session) Decrypt(user uint64, c Codec, frame []byte) ([]byte, error) {
	if isOpusSilence(c, frame) {
		return frame, nil
	}
	in, now := &s.media.in, s.options.Now()
	in.Lock()
	defer in.Unlock()
	if in.cleartext && !in.until.IsZero() && now.After(in.until) {
		in.cleartext = false
	}
	p, protected := parseFrame(frame)
	epochs := s.media.expireEpochs(user, now)
	switch {
	case !protected && in.cleartext, len(in.people) == 0 && in.cleartext:
		return frame, nil
	case !protected:
		return nil, errCleartext
	case len(epochs) == 0:
		return nil, ErrNotReady
	}
	failed := errNotAuthentic
	for _, e := range slices.Backward(epochs) {
		plain, err := e.keys.decrypt(p, now)
		if err == nil {
			return plain, nil
		}
		if !errors.Is(err, errNotAuthentic) {
			failed = err
		}
	}
	return nil, failed
}

// expireEpochs removes the expired keys of user and returns the remaining ones.
func (m *mediaKeys) expireEpochs(user uint64, now time.Time) []*receiveEpoch {
	epochs := m.in.people[user]
	for len(epochs) > 0 && !epochs[0].until.IsZero() && now.After(epochs[0].until) {
		epochs = epochs[1:]
	}
	if len(epochs) == 0 {
		delete(m.in.people, user)
	} else {
		m.in.people[user] = epochs
	}
	return epochs
}

// Version returns the version in use for what we send: 0 is without encryption, -1 before the gateway has chosen.
func (s *Session) Version() int {
	s.media.out.Lock()
	defer s.media.out.Unlock()
	return s.media.out.version
}

// Ready reports whether frames can be sent now.
func (s *Session) Ready() bool {
	s.media.out.Lock()
	defer s.media.out.Unlock()
	return s.canSend()
}

// canSend is called with the keys of what we send locked.
func (s *Session) canSend() bool {
	if s.media.out.version == 0 {
		return !s.options.RequireEncryption
	}
	return s.media.out.usable
}

// Unencrypted reports whether the servers that carry the call can hear it or speak in someone's name: what we send is
// not encrypted, or unencrypted frames of others are accepted.
func (s *Session) Unencrypted() bool {
	if s.Version() == 0 {
		return true
	}
	in := &s.media.in
	in.Lock()
	defer in.Unlock()
	return in.cleartext && in.until.IsZero()
}

// Epoch returns the epoch of the group, or 0 while we are in no group with others.
func (s *Session) Epoch() uint64 { return s.media.currentView().Epoch }

// PrivacyCode returns the voice privacy code of the call as Discord shows it: 30 digits in groups of five. People who
// see the same code are in the same group. It is empty while there is none.
func (s *Session) PrivacyCode() string { return displayCode(s.media.currentView().Authenticator, 6) }

// displayCode returns data as the digits that Discord shows: each five bytes, as a number modulo 100000. Groups are
// separated.
func displayCode(data []byte, groups int) string {
	const size = 5
	if len(data) < groups*size {
		return ""
	}
	shown := make([]string, groups)
	for i := range shown {
		var wide [8]byte
		copy(wide[8-size:], data[i*size:])
		shown[i] = fmt.Sprintf("%05d", binary.BigEndian.Uint64(wide[:])%100000)
	}
	return strings.Join(shown, " ")
}
