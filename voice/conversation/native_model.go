package conversation

import (
	"context"
	"sync/atomic"
	"time"

	"clank/voice"
	"clank/voice/realtime"
)

// NativeModel is a conversation with a model that hears and speaks by itself. Its tools are its own business; what they browse is
// stopped like any other work in the channel. Its methods do not block, but for Run.
type NativeModel interface {
	// Run holds the conversation until ctx ends, which is no error, or it cannot go on: its error tells the way out.
	Run(ctx context.Context, on realtime.Events) error

	Hear(s voice.Sound) // what somebody says, at [voice.RateRealtime]
	Interrupt()         // its answer was silenced; its tools go on
	Cancel(cause error) // somebody has stopped it: the answer and the tools end
}

// PendingPlayback is an answer: it knows how much was heard as soon as it is being played. Its methods are safe for concurrent use.
type PendingPlayback struct {
	attached atomic.Pointer[realtime.PlaybackPosition]
}

// Played implements [realtime.PlaybackPosition].
func (p *PendingPlayback) Played() time.Duration {
	if of := p.attached.Load(); of != nil {
		return (*of).Played()
	}
	return 0
}

// Attach notes what plays the answer.
func (p *PendingPlayback) Attach(of realtime.PlaybackPosition) { p.attached.Store(&of) }

// maxPreWakeSounds is how much of what somebody said is kept: three seconds in pieces of 20 ms.
const maxPreWakeSounds = 150

// PreWakeBuffer is what people have said lately who may be about to say our name. The zero value is empty; its methods must not be called at once.
type PreWakeBuffer struct {
	sounds map[string][]voice.Sound
}

// Add adds to what somebody has said; the oldest goes.
func (b *PreWakeBuffer) Add(s voice.Sound) {
	if b.sounds == nil {
		b.sounds = map[string][]voice.Sound{}
	}
	all := append(b.sounds[s.From], s)
	b.sounds[s.From] = all[max(0, len(all)-maxPreWakeSounds):]
}

// Drain returns what somebody has said, and forgets it.
func (b *PreWakeBuffer) Drain(id string) []voice.Sound {
	all := b.sounds[id]
	delete(b.sounds, id)
	return all
}
