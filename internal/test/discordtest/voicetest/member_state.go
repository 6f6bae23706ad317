package voicetest

import (
	"context"
	"fmt"
	"slices"
)

// Err tells why the member has ended; nil while it is in the call. An error of the gateway has its close code.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Gone returns a channel that is closed when the member has ended.
func (m *Member) Gone() <-chan struct{} { return m.gone }

// Frames hands out what the others send. It is never closed.
func (m *Member) Frames() <-chan ReceivedFrame { return m.frames }

// Wait returns nil as soon as cond is true. It looks whenever the gateway has said something.
func (m *Member) Wait(ctx context.Context, what string, cond func() bool) error {
	for {
		m.mu.Lock()
		changed, ended := m.changed, m.err
		m.mu.Unlock()
		if cond() {
			return nil
		}
		if ended != nil {
			return fmt.Errorf("%s waits for %s: %w", m.User, what, ended)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s waits for %s: %w", m.User, what, context.Cause(ctx))
		}
	}
}

// notify wakes those who wait. The lock is held.
func (m *Member) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Next returns the next frame.
func (m *Member) Next(ctx context.Context) (ReceivedFrame, error) {
	select {
	case f := <-m.frames:
		return f, nil
	case <-ctx.Done():
		return ReceivedFrame{}, fmt.Errorf("%s waits for a frame: %w", m.User, context.Cause(ctx))
	}
}

// People lists who else is in the call, as far as the gateway has said.
func (m *Member) People() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	people := map[string]bool{}
	for user := range m.people {
		people[user] = true
	}
	return people
}

// VideoCodec returns the name of the codec that the gateway wants pictures in.
func (m *Member) VideoCodec() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session.codec
}

// SSRC returns the member's sources; that of video is 0 without.
func (m *Member) SSRC() (audio, video uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session.audio, m.session.video
}

// Private returns the end-to-end encryption that the options have made; nil without.
func (m *Member) Private() Privacy { return m.private }

// PrivacyErrors lists what the encryption has said of messages of the gateway. In a race that is nobody's fault.
func (m *Member) PrivacyErrors() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.wrong)
}

// Repeated counts packets of pictures that were sent again for the members of the call.
func (m *Member) Repeated() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.repeated
}

// Dropped counts frames that nobody took in time.
func (m *Member) Dropped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dropped
}
