// Package native is what a conversation and a model that hears and speaks by itself know of each other, and what is kept for such a
// model: who speaks with it, what they said before our name, how much of its answer was heard.
//
// It decides nothing: whom the model may hear, and what is said when, is for package talk.
package native

import (
	"context"
	"iter"
	"sync"
	"time"

	"clank/brain"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
	"clank/voice/talk/toolbox"
)

// Sound is made while it is played: Opus packets as of [voice.Speaker], until ctx ends.
type Sound = func(ctx context.Context) iter.Seq2[[]byte, error]

// Model is a conversation with a model that hears and speaks by itself. Its tools are its own business; what they browse is
// stopped like any other work in the channel. Its methods do not block, but for Run.
type Model interface {
	// Run holds the conversation until ctx ends, which is no error, or it cannot go on: its error tells the way out.
	Run(ctx context.Context) error

	Hear(s voice.Sound) // what somebody says, at [voice.RateRealtime]
	Interrupt()         // its answer was silenced; its tools go on
	Cancel(cause error) // somebody has stopped it: the answer and the tools end
}

// Events is what a [Model] tells. The functions may be called from any goroutine, and do not block.
type Events struct {
	Speak   func(s Sound) Played                           // an answer begins to be heard
	Hush    func(cause error)                              // it has noticed that somebody speaks
	Heard   func(by []string, text string)                 // what was said, in words, by one of these; see [realtime.Session]
	Said    func(text string)                              // what it said, in words
	Trouble func(err error)                                // something failed; it goes on
	Show    func(markdown string, images []sessions.Image) // something to see, for those in the call

	// Asker is who speaks to it, or spoke last, as those who use tools on their behalf know them.
	Asker func() (o sessions.Origin, known bool)
}

// Realtime has s hold the conversation, with the tools that it is given: what makes a [Model]. The functions and the tools of s are set by
// it; its other fields are the caller's, also those that tell what it uses.
func Realtime(s *realtime.Session, tools func(on Events) []brain.Tool) func(Events) Model {
	return func(on Events) Model {
		box := toolbox.Box{Tools: tools(on), Asker: on.Asker}
		s.Tools, s.Call = box.List(), box.Call
		s.Speak = func(sound Sound) realtime.Playing { return on.Speak(sound) }
		s.Hush, s.Heard, s.Said = on.Hush, on.Heard, on.Said
		s.Trouble = func(err *llm.Error) { on.Trouble(err) }
		return s
	}
}

// Played is how much of an answer was heard until now.
type Played interface {
	Played() time.Duration
}

// Playback is an answer: it knows how much was heard as soon as it is being played. Its methods are safe for concurrent use.
type Playback struct {
	mu sync.Mutex
	of Played
}

// Played implements [Played].
func (p *Playback) Played() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		return 0
	}
	return p.of.Played()
}

// Play notes what plays the answer.
func (p *Playback) Play(of Played) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = of
}

// Asker is who speaks with a model. Its methods are safe for concurrent use.
type Asker struct {
	mu    sync.Mutex
	of    sessions.Origin
	known bool
}

// Set notes who speaks now.
func (a *Asker) Set(o sessions.Origin) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of, a.known = o, true
}

// Now is who speaks, or spoke last: an [Events.Asker].
func (a *Asker) Now() (o sessions.Origin, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of, a.known
}

// keepBefore is how much of what somebody said is kept: three seconds in pieces of 20 ms.
const keepBefore = 150

// Before is what people have said lately who may be about to say our name. The zero value is empty; its methods must not be called at once.
type Before struct {
	by map[string][]voice.Sound
}

// Keep adds to what somebody has said; the oldest goes.
func (b *Before) Keep(s voice.Sound) {
	if b.by == nil {
		b.by = map[string][]voice.Sound{}
	}
	all := append(b.by[s.From], s)
	b.by[s.From] = all[max(0, len(all)-keepBefore):]
}

// Take returns what somebody has said, and forgets it.
func (b *Before) Take(id string) []voice.Sound {
	all := b.by[id]
	delete(b.by, id)
	return all
}
