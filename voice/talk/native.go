package talk

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"clank/cancel"
	"clank/sessions"
	"clank/voice"
	"clank/voice/talk/native"
	"clank/voice/talk/phrases"
	"clank/voice/talk/words"
)

// judgedFor is how long it holds that somebody may, or may not, ask for something.
const judgedFor = 5 * time.Second

// speaker is the part of a call that a [native.Model] serves. A nil one does nothing.
type speaker struct {
	call   *call
	model  native.Model
	end    context.CancelCauseFunc
	asker  *person      // who was heard last
	of     native.Asker // the same, for the model
	before native.Before

	playing atomic.Bool // what is being said is an answer of the model
}

// plays notes whether what is being said is an answer of the model.
func (n *speaker) plays(on bool) {
	if n != nil {
		n.playing.Store(on)
	}
}

// startNative begins the conversation. Run waits for its end.
func (c *call) startNative(ctx context.Context) {
	n := &speaker{call: c}
	ctx, n.end = context.WithCancelCause(ctx)
	c.native = n
	n.model = c.NewNative(native.Events{
		Speak: func(s native.Sound) native.Played {
			p := &native.Playback{}
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
		Show:  func(text string, images []sessions.Image) { c.write(Message{Text: text, Images: images}) },
		Asker: n.of.Now,
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
func (n *speaker) over(err error) {
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
	n.call.tell("native", phrases.NoModel(why))
}

// hear gives the model what is said to us, with what came just before our name.
func (n *speaker) hear(ctx context.Context, p *person, s voice.Sound) {
	now := time.Now()
	if !n.call.room.alone(p) && !now.Before(p.openUntil) && (p.woken.IsZero() || now.Sub(p.woken) > wakeFor) {
		n.before.Keep(s)
		return
	}
	if n.wake(ctx, p) {
		n.model.Hear(s)
	}
}

// may reports whether p may ask for anything now. Why not is told once, until they may again.
func (n *speaker) may(ctx context.Context, p *person) bool {
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
func (n *speaker) wake(ctx context.Context, p *person) bool {
	if n == nil {
		return false
	}
	if !n.may(ctx, p) {
		n.before.Take(p.ID)
		return false
	}
	n.asker = p
	n.of.Set(n.call.origin(p))
	for _, s := range n.before.Take(p.ID) {
		n.model.Hear(s)
	}
	return true
}

func (n *speaker) forget(id string) { n.before.Take(id) }

// speak plays an answer, in place of one that is being played.
func (n *speaker) speak(ctx context.Context, s native.Sound, p *native.Playback) {
	c := n.call
	if c.Mouth == nil {
		c.tell("speak", phrases.NoSpeech)
		return
	}
	n.hush(&cancel.Cause{Reason: cancel.Superseded})
	c.speech.queue = append([]*part{{to: n.asker, sound: s, playback: p}}, c.speech.queue...)
	c.next(ctx)
}

// hush silences the answer that is being played.
func (n *speaker) hush(cause error) {
	s := &n.call.speech
	n.call.dropWhere(func(p *part) bool { return p.sound != nil && p == s.now }, cause)
}

// silenced is told that the answer being played was interrupted.
func (n *speaker) silenced(p *part) {
	if n != nil && p.sound != nil {
		n.model.Interrupt()
	}
}

// said is told that an answer is over.
func (n *speaker) said(p *part) {
	if n != nil && p.to != nil && p.to.here && !p.to.out {
		p.to.openUntil = time.Now().Add(n.call.followUp())
	}
}

// stop ends what the model says and does, if it is p's to end. Whether it did anything is known of its speech and its tools alone.
func (n *speaker) stop(p *person, all bool, cause error) {
	if n != nil && (all || n.asker == p) {
		n.model.Cancel(cause)
	}
}

// somebody is who has said something if several spoke at the same time.
var somebody = voice.Person{ID: "somebody", Name: "Somebody"}

// heard is told what was said, and who may have said it: two things are not left to the model. A stop that several may have said
// counts as that of the one who is spoken with. Whether somebody is heard is decided by that very person alone.
func (n *speaker) heard(ctx context.Context, by []string, text string) {
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
		written, spoken := n.call.able().WhosePrivacy()
		n.call.sayShort(spoken)
		n.call.tell("whose privacy", written)
	case named && words.IsPrivacy(rest):
		n.call.leaveOut(ctx, sure)
	}
}

// answered is told what the model has said.
func (n *speaker) answered(text string) {
	if p := n.call.speech.now; p != nil && p.sound != nil {
		p.aloud.Goes(text)
	}
	n.keep(Said{Text: text, At: time.Now()})
}

// keep passes on what was said in words.
func (n *speaker) keep(s Said) {
	if n.call.Keep != nil {
		n.call.Keep(s)
	}
	n.call.show(s)
}
