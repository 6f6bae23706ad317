package playout

import (
	"context"
	"errors"
	"time"

	"clank/voice"
)

const (
	maxBehind   = 100 * time.Millisecond // after which the clock is reset, instead of sending a burst
	lineTimeout = 5 * time.Second        // with a line that cannot carry sound for now
	// packets that must be there before a sentence begins or continues, so that it does not stutter
	packetsToBegin = 3
	hushAfter      = 5 // missing packets, after which the others are told that nothing follows
)

// Run plays the queue until ctx ends, which is no error. Then everything that was not played is dropped, and its
// synthesis has ended.
func (m *Player) Run(ctx context.Context) error {
	making, stop := context.WithCancelCause(ctx)
	defer func() {
		cause := context.Cause(ctx)
		stop(cause)
		m.end(cause)
	}()
	m.mu.Lock()
	wake := m.wakeChannel()
	m.mu.Unlock()
	v := &playback{player: m}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next time.Time // when the next packet is due
	for {
		now := time.Now()
		if now.Sub(next) >= maxBehind {
			next = now
		}
		if !now.Before(next) {
			v.tick(making)
			next = next.Add(voice.FrameTime)
		}
		busy := v.prepareQueue(making)
		if busy {
			timer.Reset(time.Until(next))
		} else {
			timer.Stop()
		}
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			v.endSpeech()
			return nil
		}
	}
}

// playback is what Run knows alone.
type playback struct {
	player           *Player
	sounding         bool // packets were sent, and no end of speech since
	missing          int  // packets that were due and not there
	unavailableSince time.Time
}

// prepareQueue starts the synthesis of queued sentences, and ends speech if there are none. It reports whether there
// are any.
func (v *playback) prepareQueue(ctx context.Context) bool {
	m := v.player
	m.mu.Lock()
	for _, s := range m.queue[:min(len(m.queue), sentencesAhead)] {
		if !s.started {
			s.startSynthesis(ctx)
		}
	}
	// A background sound has gaps between its packets; tick detects its end.
	busy := len(m.queue) > 0 || m.background != nil && (v.sounding || len(m.background.packets) >= backgroundFirst)
	m.mu.Unlock()
	if !busy {
		v.endSpeech()
	}
	return busy
}

// tick sends the packet that is due.
func (v *playback) tick(ctx context.Context) {
	s, opus := v.nextPacket(ctx)
	if opus == nil {
		if v.missing++; v.missing == hushAfter {
			v.endSpeech()
		}
		return
	}
	v.missing = 0
	err := v.player.Line.Play(opus)
	v.player.mu.Lock()
	defer v.player.mu.Unlock()
	switch {
	case err == nil:
		v.sounding, v.unavailableSince = true, time.Time{}
		if s == nil || s.finished { // silenced while it went out
			return
		}
		s.played += voice.FrameTime
		return
	case s == nil || s.finished:
		return
	case errors.Is(err, voice.ErrUnavailable):
		if v.unavailableSince.IsZero() {
			v.unavailableSince = time.Now()
		}
		if time.Since(v.unavailableSince) < lineTimeout {
			s.next = opus
			return
		}
	}
	v.unavailableSince = time.Time{}
	v.finish(s, err)
}

// nextPacket returns the next packet and its sentence, which is nil for a background sound. It returns no packet if
// none is ready.
func (v *playback) nextPacket(ctx context.Context) (*QueuedSentence, []byte) {
	m := v.player
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Now().Before(m.pausedUntil) {
		return nil, nil
	}
	for len(m.queue) > 0 {
		s := m.queue[0]
		if !s.started {
			s.startSynthesis(ctx)
		}
		if opus := s.next; opus != nil {
			s.next = nil
			return s, opus
		}
		opus, ended := s.nextPacket()
		if !ended {
			return s, opus
		}
		v.finish(s, s.synthesisErr)
	}
	if m.background == nil || !v.sounding && len(m.background.packets) < backgroundFirst {
		return nil, nil
	}
	select {
	case opus := <-m.background.packets:
		m.background.heard = time.Now()
		return nil, opus
	default:
		return nil, nil
	}
}

// finish ends the first sentence of the queue. m.mu is held.
func (v *playback) finish(s *QueuedSentence, err error) {
	m := v.player
	if len(m.queue) > 0 && m.queue[0] == s {
		m.queue = m.queue[1:]
	}
	s.finish(err)
	if err != nil {
		m.logger().Warn("something could not be said", "error", err)
	}
}

// nextPacket returns the next packet of a sentence: none while too little is there, so that what begins continues.
func (s *QueuedSentence) nextPacket() (opus []byte, ended bool) {
	if !s.flowing && len(s.packets) < packetsToBegin && !s.allSynthesized() {
		return nil, false
	}
	select {
	case opus, ok := <-s.packets:
		s.flowing = ok
		return opus, !ok
	default:
		s.flowing = false
		return nil, false
	}
}

// endSpeech tells the others that nothing follows, if packets were sent.
func (v *playback) endSpeech() {
	if !v.sounding {
		return
	}
	v.sounding = false
	if err := v.player.Line.EndSpeech(); err != nil && !errors.Is(err, voice.ErrUnavailable) {
		v.player.logger().Debug("the end of what was said could not be told", "error", err)
	}
}
