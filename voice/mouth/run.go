package mouth

import (
	"context"
	"errors"
	"time"

	"clank/voice"
)

const (
	behind  = 100 * time.Millisecond // and the clock starts again, instead of sending all at once
	patient = 5 * time.Second        // with a line that cannot carry sound for now
	gap     = 5                      // packets that are not there, and the others are told that nothing follows
)

// Run says what there is to say until ctx ends, which is no error. Then everything that was not said is over, and whatever
// made sound of it has ended.
func (m *Mouth) Run(ctx context.Context) error {
	making, stop := context.WithCancelCause(ctx)
	defer func() {
		cause := context.Cause(ctx)
		stop(cause)
		m.end(cause)
	}()
	m.mu.Lock()
	wake := m.woken()
	m.mu.Unlock()
	v := &voicing{mouth: m}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next time.Time // when the next packet is due
	for {
		now := time.Now()
		if now.Sub(next) >= behind {
			next = now
		}
		if !now.Before(next) {
			v.tick(making)
			next = next.Add(voice.FrameTime)
		}
		busy := v.look(making)
		if busy {
			timer.Reset(time.Until(next))
		} else {
			timer.Stop()
		}
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			v.hush()
			return nil
		}
	}
}

// voicing is what Run knows alone.
type voicing struct {
	mouth   *Mouth
	loud    bool // packets went out, and no hush since
	missing int  // packets that were due and not there
	mute    time.Time
}

// look begins to make sentences into sound, and falls silent when there is none. It reports whether there is one.
func (v *voicing) look(ctx context.Context) bool {
	m := v.mouth
	m.mu.Lock()
	for _, s := range m.queue[:min(len(m.queue), ahead)] {
		if !s.begun {
			s.begin(ctx)
		}
	}
	busy := len(m.queue) > 0
	m.mu.Unlock()
	if !busy {
		v.hush()
	}
	return busy
}

// tick sends the packet that is due.
func (v *voicing) tick(ctx context.Context) {
	s, opus := v.take(ctx)
	if opus == nil {
		if v.missing++; v.missing == gap {
			v.hush()
		}
		return
	}
	v.missing = 0
	err := v.mouth.Line.Play(opus)
	v.mouth.mu.Lock()
	defer v.mouth.mu.Unlock()
	switch {
	case err == nil:
		v.loud, v.mute = true, time.Time{}
		if s.over { // silenced while it went out
			return
		}
		if s.said.Played == 0 {
			s.said.Began = time.Now()
		}
		s.said.Played += voice.FrameTime
		return
	case s.over:
		return
	case errors.Is(err, voice.ErrMute):
		if v.mute.IsZero() {
			v.mute = time.Now()
		}
		if time.Since(v.mute) < patient {
			s.next = opus
			return
		}
	}
	v.mute = time.Time{}
	v.finish(s, err)
}

// take returns the next packet, and the sentence that it is of; none if there is none yet.
func (v *voicing) take(ctx context.Context) (*Saying, []byte) {
	m := v.mouth
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Now().Before(m.held) {
		return nil, nil
	}
	for len(m.queue) > 0 {
		s := m.queue[0]
		if !s.begun {
			s.begin(ctx)
		}
		if opus := s.next; opus != nil {
			s.next = nil
			return s, opus
		}
		opus, ended := s.packet(positive(m.Ahead, 3*voice.FrameTime))
		if !ended {
			return s, opus
		}
		v.finish(s, s.failed)
	}
	return nil, nil
}

// finish ends the first sentence of the queue. m.mu is held.
func (v *voicing) finish(s *Saying, err error) {
	m := v.mouth
	if len(m.queue) > 0 && m.queue[0] == s {
		m.queue = m.queue[1:]
	}
	m.done(s, err)
	if err != nil {
		m.logger().Warn("something could not be said", "error", err)
	}
}

// packet returns the next packet of a sentence: none while too little is there, so that what begins goes on.
func (s *Saying) packet(enough time.Duration) (opus []byte, ended bool) {
	if !s.flowing && len(s.packets) < int(enough/voice.FrameTime) && !s.made() {
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

// hush tells the others that nothing follows, if something went before.
func (v *voicing) hush() {
	if !v.loud {
		return
	}
	v.loud = false
	if err := v.mouth.Line.Hush(); err != nil && !errors.Is(err, voice.ErrMute) {
		v.mouth.logger().Debug("the end of what was said could not be told", "error", err)
	}
}

func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
