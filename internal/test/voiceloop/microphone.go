package voiceloop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
)

// samplesPerFrame is the number of samples of a packet.
const samplesPerFrame = voice.RateOpus / 50

// Microphone sends a person's audio in an emulated call: constant room noise, and their speech. Set its fields, then
// call Run.
type Microphone struct {
	To   *voicetest.Member
	Seed uint64 // of the noise

	mu    sync.Mutex
	queue []*queuedSpeech
}

// queuedSpeech is speech being sent.
type queuedSpeech struct {
	rest       []int16
	start, end time.Time
	done       chan struct{}
}

// Run sends a packet every 20 ms until ctx ends. It returns an error if sending fails, and nil when ctx ends.
func (m *Microphone) Run(ctx context.Context) error {
	packer, err := voice.NewOpusPacker(voice.RateOpus)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(m.Seed, 3))
	m.To.Speak(1)
	tick := time.NewTicker(voice.FrameTime)
	defer tick.Stop()
	begin := time.Now()
	for sent := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		// a ticker drops ticks that are not received in time
		for due := int(time.Since(begin) / voice.FrameTime); sent < due; sent++ {
			frame, over := m.frame()
			for i, s := range frame {
				frame[i] = clipSample(float64(s) + random.NormFloat64()*noiseRMS)
			}
			packets, err := packer.Write(frame)
			for _, p := range packets {
				err = errors.Join(err, m.To.Send(p))
			}
			if err != nil {
				return fmt.Errorf("%s speaks: %w", m.To.User, err)
			}
			if over != nil {
				over.end = time.Now()
				close(over.done)
			}
		}
	}
}

// frame returns the next 20 ms, and the speech that ends with it.
func (m *Microphone) frame() (frame []int16, over *queuedSpeech) {
	frame = make([]int16, samplesPerFrame)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		return frame, nil
	}
	s := m.queue[0]
	if s.start.IsZero() {
		s.start = time.Now()
	}
	s.rest = s.rest[copy(frame, s.rest):]
	if len(s.rest) > 0 {
		return frame, nil
	}
	m.queue = m.queue[1:]
	return frame, s
}

// Say sends samples, and returns the times at which their first and last packets were sent.
func (m *Microphone) Say(ctx context.Context, samples []int16) (start, end time.Time, err error) {
	s := &queuedSpeech{rest: samples, done: make(chan struct{})}
	m.mu.Lock()
	m.queue = append(m.queue, s)
	m.mu.Unlock()
	select {
	case <-s.done:
		return s.start, s.end, nil
	case <-ctx.Done():
		return time.Time{}, time.Time{}, context.Cause(ctx)
	}
}

// Pause waits for a while.
func (m *Microphone) Pause(ctx context.Context, d time.Duration) error {
	_, _, err := m.Say(ctx, make([]int16, int(d.Seconds()*voice.RateOpus)))
	return err
}
