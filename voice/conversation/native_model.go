package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
)

// SoundFunc is made while it is played: Opus packets as of [voice.Synthesizer], until ctx ends.
type SoundFunc = func(ctx context.Context) iter.Seq2[[]byte, error]

// NativeModel is a conversation with a model that hears and speaks by itself. Its tools are its own business; what they browse is
// stopped like any other work in the channel. Its methods do not block, but for Run.
type NativeModel interface {
	// Run holds the conversation until ctx ends, which is no error, or it cannot go on: its error tells the way out.
	Run(ctx context.Context) error

	Hear(s voice.Sound) // what somebody says, at [voice.RateRealtime]
	Interrupt()         // its answer was silenced; its tools go on
	Cancel(cause error) // somebody has stopped it: the answer and the tools end
}

// NativeEvents is what a [NativeModel] tells. The functions may be called from any goroutine, and do not block.
type NativeEvents struct {
	Speak        func(s SoundFunc) PlaybackPosition        // an answer begins to be heard
	StopPlayback func(cause error)                         // it has noticed that somebody speaks
	Heard        func(by []string, text string)            // what was said, in words, by one of these; see [realtime.Session]
	Answered     func(text string)                         // what it said, in words
	Trouble      func(err error)                           // something failed; it goes on
	Show         func(markdown string, images []llm.Image) // something to see, for those in the call

	// Asker is who speaks to it, or spoke last, as those who use tools on their behalf know them.
	Asker func() (o sessions.Origin, known bool)
}

// RealtimeModel has s hold the conversation, with the tools that it is given: what makes a [NativeModel]. The functions and the tools of s are set by
// it; its other fields are the caller's, also those that tell what it uses.
func RealtimeModel(s *realtime.Session, tools func(on NativeEvents) []sessions.Tool) func(NativeEvents) NativeModel {
	return func(on NativeEvents) NativeModel {
		box := Toolset{Tools: tools(on), Asker: on.Asker}
		s.Tools, s.Call = box.Definitions(), box.Call
		s.Speak = func(sound SoundFunc) realtime.PlaybackPosition { return on.Speak(sound) }
		s.StopPlayback, s.Heard, s.Said = on.StopPlayback, on.Heard, on.Answered
		s.Trouble = func(err *llm.Error) { on.Trouble(err) }
		return s
	}
}

// PlaybackPosition is how much of an answer was heard until now.
type PlaybackPosition interface {
	Played() time.Duration
}

// PendingPlayback is an answer: it knows how much was heard as soon as it is being played. Its methods are safe for concurrent use.
type PendingPlayback struct {
	attached atomic.Pointer[PlaybackPosition]
}

// Played implements [PlaybackPosition].
func (p *PendingPlayback) Played() time.Duration {
	if of := p.attached.Load(); of != nil {
		return (*of).Played()
	}
	return 0
}

// Attach notes what plays the answer.
func (p *PendingPlayback) Attach(of PlaybackPosition) { p.attached.Store(&of) }

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

// errNobodySpoke is told to a model that uses a tool before anybody has spoken.
var errNobodySpoke = errors.New("nobody has spoken yet; wait until somebody asks for something")

// Toolset holds the tools. Its methods are safe for concurrent use.
type Toolset struct {
	Tools []sessions.Tool

	// Asker is who speaks to the model now, or spoke last.
	Asker func() (sessions.Origin, bool)
}

// Definitions returns what the model is told of the tools.
func (b Toolset) Definitions() []llm.Tool {
	all := make([]llm.Tool, len(b.Tools))
	for i, t := range b.Tools {
		all[i] = t.Tool
	}
	return all
}

// Call uses a tool and returns what the model gets to know, as a JSON object {"ok", "result" or "error", "cancelled"}. One that was
// cancelled says so, so that the model does not try again.
func (b Toolset) Call(ctx context.Context, name string, arguments json.RawMessage) string {
	type result struct {
		OK        bool   `json:"ok"`
		Result    string `json:"result,omitempty"`
		Error     string `json:"error,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
	}
	text, err := b.callTool(ctx, name, arguments)
	r := result{OK: err == nil, Result: text}
	if err != nil {
		r.Error = err.Error()
	}
	if ctx.Err() != nil {
		r = result{Error: context.Cause(ctx).Error(), Cancelled: true}
	}
	out, err := json.Marshal(r)
	if err != nil {
		return `{"ok":false}` // strings always are JSON
	}
	return string(out)
}

func (b Toolset) callTool(ctx context.Context, name string, arguments json.RawMessage) (string, error) {
	i := slices.IndexFunc(b.Tools, func(t sessions.Tool) bool { return t.Name == name })
	if i < 0 {
		return "", errors.New("there is no tool " + name)
	}
	o, known := b.Asker()
	if !known {
		return "", errNobodySpoke
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	text, _, err := b.Tools[i].Call(ctx, o, arguments)
	return text, err
}
