package talk

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"clank/cancel"
	"clank/sessions"
	"clank/voice"
	"clank/voice/talk/words"
)

// keepBefore is how much of what somebody said before our name is given to a native model: three seconds in pieces of 20 ms.
const keepBefore = 150

// judgedFor is how long it holds that somebody may, or may not, ask for something.
const judgedFor = 5 * time.Second

// Sound is made while it is played: Opus packets as of [voice.Speaker], until ctx ends.
type Sound = func(ctx context.Context) iter.Seq2[[]byte, error]

// Native is a conversation with a model that hears and speaks by itself. Its tools are its own business; what they browse is
// stopped like any other work in the channel. Its methods do not block, but for Run.
type Native interface {
	// Run holds the conversation until ctx ends, which is no error, or it cannot go on: its error tells the way out.
	Run(ctx context.Context) error

	Hear(s voice.Sound) // what somebody says, at [voice.RateRealtime]
	Interrupt()         // its answer was silenced; its tools go on
	Cancel(cause error) // somebody has stopped it: the answer and the tools end
}

// NativeEvents is what a [Native] tells. The functions may be called from any goroutine, and do not block.
type NativeEvents struct {
	Speak   func(s Sound) Played           // an answer begins to be heard
	Hush    func(cause error)              // it has noticed that somebody speaks
	Heard   func(by []string, text string) // what was said, in words, by one of these; see [realtime.Session]
	Said    func(text string)              // what it said, in words
	Trouble func(err error)                // something failed; it goes on
	Show    func(m Message)                // something to see, for those in the call

	// Asker is who speaks to it, or spoke last, as those who use tools on their behalf know them.
	Asker func() (o sessions.Origin, known bool)
}

// Played is how much of an answer was heard until now.
type Played interface {
	Played() time.Duration
}

// playback is an answer of a native model: it knows how much was heard as soon as it is being played.
type playback struct {
	mu sync.Mutex
	of Played
}

// Played implements [Played].
func (p *playback) Played() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		return 0
	}
	return p.of.Played()
}

func (p *playback) play(of Played) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = of
}

// native is the part of a call that a [Native] serves. A nil one does nothing.
type native struct {
	call   *call
	model  Native
	end    context.CancelCauseFunc
	asker  *person // who was heard last
	before map[string][]voice.Sound

	playing atomic.Bool // what is being said is an answer of the model

	mu    sync.Mutex
	of    sessions.Origin // of asker
	known bool
}

// plays notes whether what is being said is an answer of the model.
func (n *native) plays(on bool) {
	if n != nil {
		n.playing.Store(on)
	}
}

// origin is who is spoken with. It may be called from any goroutine.
func (n *native) origin() (o sessions.Origin, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.of, n.known
}

// startNative begins the conversation. Run waits for its end.
func (c *call) startNative(ctx context.Context) {
	n := &native{call: c, before: map[string][]voice.Sound{}}
	ctx, n.end = context.WithCancelCause(ctx)
	c.native = n
	n.model = c.NewNative(NativeEvents{
		Speak: func(s Sound) Played {
			p := &playback{}
			c.post(func(ctx context.Context) { n.speak(ctx, s, p) })
			return p
		},
		Hush: func(cause error) {
			if n.playing.Load() && c.Mouth != nil { // at once, so that how much was heard is known
				c.Mouth.Silence(cause)
			}
			c.post(func(context.Context) { n.hush(cause) })
		},
		Heard: func(by []string, text string) { c.post(func(ctx context.Context) { n.heard(ctx, by, text) }) },
		Said:  func(text string) { c.post(func(context.Context) { n.answered(text) }) },
		Show:  c.write,
		Asker: n.origin,
		Trouble: func(err error) {
			c.log.Warn("trouble with the native conversation", "error", err)
			c.post(func(context.Context) { c.tell("native trouble", "Something failed: "+words.Sentence(err.Error())) })
		},
	})
	c.work.Go(func() {
		defer n.end(context.Canceled)
		err := n.model.Run(ctx)
		if err == nil {
			err = context.Cause(ctx)
		}
		c.post(func(ctx context.Context) {
			if ctx.Err() == nil {
				n.over(err)
			}
		})
	})
}

// over tells that nobody answers any more.
func (n *native) over(err error) {
	why := "The conversation with the model has ended."
	if err != nil {
		why = words.Sentence(err.Error())
	}
	n.call.native = nil
	if n.call.spent(nil, err) {
		why = "The budget is spent."
	} else {
		n.call.log.Error("native conversation ended", "error", err)
	}
	n.call.tell("native", "I can neither hear words nor answer any more in this call. "+why+" `/clank leave` and `/clank join` begin anew.")
}

// hear gives the model what is said to us, with what came just before our name.
func (n *native) hear(ctx context.Context, p *person, s voice.Sound) {
	now := time.Now()
	if !n.call.room.alone(p) && !now.Before(p.openUntil) && (p.woken.IsZero() || now.Sub(p.woken) > wakeFor) {
		b := append(n.before[p.ID], s)
		n.before[p.ID] = b[max(0, len(b)-keepBefore):]
		return
	}
	if n.wake(ctx, p) {
		n.model.Hear(s)
	}
}

// may reports whether p may ask for anything now. Why not is told once, until they may again.
func (n *native) may(ctx context.Context, p *person) bool {
	c := n.call
	if c.Disabled == nil {
		return true
	}
	now := time.Now()
	if now.Sub(p.judged) < judgedFor {
		return !p.refused
	}
	why := c.Disabled(ctx, c.origin(p))
	told := p.refused
	p.judged, p.refused = now, why != ""
	if p.refused && !told {
		c.write(Message{Text: words.Name(p.name()) + ": " + words.Sentence(why)})
		c.sayShort(words.Sentence(why))
	}
	return !p.refused
}

// wake is told that p speaks to us: the model gets what they have said just before, too. It reports whether it may hear them.
func (n *native) wake(ctx context.Context, p *person) bool {
	if n == nil {
		return false
	}
	if !n.may(ctx, p) {
		delete(n.before, p.ID)
		return false
	}
	n.asker = p
	n.mu.Lock()
	n.of, n.known = n.call.origin(p), true
	n.mu.Unlock()
	for _, s := range n.before[p.ID] {
		n.model.Hear(s)
	}
	delete(n.before, p.ID)
	return true
}

func (n *native) forget(id string) { delete(n.before, id) }

// speak plays an answer, in place of one that is being played.
func (n *native) speak(ctx context.Context, s Sound, p *playback) {
	c := n.call
	if c.Mouth == nil {
		c.tell("speak", "I have an answer, but nothing to say it with: set up speech in the settings under voice.")
		return
	}
	n.hush(&cancel.Cause{Reason: cancel.Superseded})
	c.speech.queue = append([]*part{{to: n.asker, sound: s, playback: p}}, c.speech.queue...)
	c.next(ctx)
}

// hush silences the answer that is being played.
func (n *native) hush(cause error) {
	s := &n.call.speech
	n.call.dropWhere(func(p *part) bool { return p.sound != nil && p == s.now }, cause)
}

// silenced is told that the answer being played was interrupted.
func (n *native) silenced(p *part) {
	if n != nil && p.sound != nil {
		n.model.Interrupt()
	}
}

// said is told that an answer is over.
func (n *native) said(p *part) {
	if n != nil && p.to != nil && p.to.here && !p.to.out {
		p.to.openUntil = time.Now().Add(n.call.followUp())
	}
}

// stop ends what the model says and does, if it is p's to end. Whether it did anything is known of its speech and its tools alone.
func (n *native) stop(p *person, all bool, cause error) {
	if n != nil && (all || n.asker == p) {
		n.model.Cancel(cause)
	}
}

// somebody is who has said something if several spoke at the same time.
var somebody = voice.Person{ID: "somebody", Name: "Somebody"}

// heard is told what was said, and who may have said it: two things are not left to the model. A stop that several may have said
// counts as that of the one who is spoken with. Whether somebody is heard is decided by that very person alone.
func (n *native) heard(ctx context.Context, by []string, text string) {
	var sure *person
	if len(by) == 1 {
		sure = n.call.room.people[by[0]]
	}
	said := Said{By: somebody, Text: text, At: time.Now()}
	if sure != nil {
		said.By = sure.Person
	}
	n.keep(said)
	named, rest := words.Named(text, n.call.Manners.Names)
	switch {
	case cancel.IsStop(text), named && cancel.IsStop(rest):
		if p := cmp.Or(sure, n.asker); p != nil {
			n.call.stop(p, named)
		}
	case named && words.IsPrivacy(rest) && sure == nil:
		n.call.sayShort("Several people spoke. Who wants to be left out?")
		n.call.tell("whose privacy", "Several people spoke, so I do not know who wants to be left out: say it again while nobody else speaks, or "+n.call.leftOutBy()+".")
	case named && words.IsPrivacy(rest):
		n.call.leaveOut(ctx, sure)
	}
}

// answered is told what the model has said.
func (n *native) answered(text string) {
	if p := n.call.speech.now; p != nil && p.sound != nil {
		p.aloud.Goes(text)
	}
	n.keep(Said{Text: text, At: time.Now()})
}

// keep passes on what was said in words.
func (n *native) keep(s Said) {
	if n.call.Keep != nil {
		n.call.Keep(s)
	}
	n.call.show(s)
}
