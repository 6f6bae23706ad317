package talk

import (
	"context"
	"errors"
	"iter"
	"time"

	"clank/cancel"
	"clank/llm"
	"clank/voice"
)

// keepBefore is how much of what somebody said before our name is given to a native model: three seconds in pieces of 20 ms.
const keepBefore = 150

// Native is a conversation with a model that hears and speaks by itself. Its tools are its own business.
type Native interface {
	// Run holds the conversation until ctx ends, or it cannot go on: its error tells the way out. It calls the functions
	// of on one at a time.
	Run(ctx context.Context, on NativeEvents) error

	// Hear gives it what somebody says, as [Ear] gives it. It does not block.
	Hear(s voice.Sound)

	// Interrupt ends the answer that is being given, if there is one, of which so much was heard, with its calls of tools.
	Interrupt(played time.Duration, cause error)
}

// NativeEvents is what a [Native] tells.
type NativeEvents struct {
	// Speak is an answer that begins: Opus packets as of [voice.Speaker], which come as they are made. Its end, and the end of its ctx,
	// end the sequence.
	Speak func(sound func(context.Context) iter.Seq2[[]byte, error])

	Heard func(text string) // what somebody said, in words
	Said  func(text string) // what it said, in words

	// Spend is called with the usage of each response. An error ends the conversation, and is told to the people.
	Spend func(u llm.Usage) error
}

// native is the part of a call that a [Native] serves. A nil one does nothing.
type native struct {
	call   *call
	model  Native
	asker  *person // who was heard last
	before map[string][]voice.Sound
}

// startNative begins the conversation. Run waits for its end.
func (c *call) startNative(ctx context.Context) {
	n := &native{call: c, model: c.Native, before: map[string][]voice.Sound{}}
	c.native = n
	var spent error
	ctx, end := context.WithCancelCause(ctx)
	on := NativeEvents{
		Speak: func(sound func(context.Context) iter.Seq2[[]byte, error]) {
			c.post(func(ctx context.Context) { n.speak(ctx, sound) })
		},
		Heard: func(text string) { c.post(func(context.Context) { n.keep(text, false) }) },
		Said:  func(text string) { c.post(func(context.Context) { n.keep(text, true) }) },
		Spend: func(u llm.Usage) error {
			if c.Spend == nil {
				return nil
			}
			if err := c.Spend(ctx, u); err != nil {
				spent = err
				end(err)
				return err
			}
			return nil
		},
	}
	c.work.Go(func() {
		defer end(context.Canceled)
		err := c.Native.Run(ctx, on)
		c.post(func(ctx context.Context) {
			if ctx.Err() == nil {
				n.over(errors.Join(spent, err))
			}
		})
	})
}

// over tells that nobody answers any more.
func (n *native) over(err error) {
	why := "the conversation with the model has ended"
	if err != nil {
		n.call.log.Error("native conversation ended", "error", err)
		why = err.Error()
	}
	n.call.native = nil
	n.call.tell("native", "I can neither hear nor answer any more in this call: "+sentence(why)+" `/clank leave` and `/clank join` begin anew.")
}

// hear gives the model what is said to us, with what came just before our name.
func (n *native) hear(p *person, s voice.Sound) {
	now := time.Now()
	if !n.call.room.alone(p) && !now.Before(p.openUntil) && (p.woken.IsZero() || now.Sub(p.woken) > wakeFor) {
		b := append(n.before[p.ID], s)
		n.before[p.ID] = b[max(0, len(b)-keepBefore):]
		return
	}
	n.asker = p
	n.flush(p)
	n.model.Hear(s)
}

func (n *native) flush(p *person) {
	for _, s := range n.before[p.ID] {
		n.model.Hear(s)
	}
	delete(n.before, p.ID)
}

// wake is told that p has called us by name.
func (n *native) wake(p *person) {
	if n == nil {
		return
	}
	n.asker = p
	n.flush(p)
}

func (n *native) forget(id string) { delete(n.before, id) }

// speak plays an answer.
func (n *native) speak(ctx context.Context, sound func(context.Context) iter.Seq2[[]byte, error]) {
	c := n.call
	if c.Mouth == nil {
		c.tell("speak", "I have an answer, but nothing to say it with: set up speech in the settings under voice.")
		return
	}
	c.dropWhere(func(p *part) bool { return p == c.speech.now }, &cancel.Cause{Reason: cancel.Superseded})
	c.speech.queue = append([]*part{{to: n.asker, sound: sound, sentences: []string{""}}}, c.speech.queue...)
	c.next(ctx)
}

// played is told that an answer was heard, or so much of it.
func (n *native) played(p *part, heard time.Duration, err error) {
	if n == nil {
		return
	}
	if err != nil {
		n.model.Interrupt(heard, err)
	}
	if p.to != nil && p.to.here && !p.to.out {
		p.to.openUntil = time.Now().Add(n.call.followUp())
	}
}

// stop ends what the model says and does for p, and reports whether there was something.
func (n *native) stop(p *person, all bool, cause error) bool {
	if n == nil || !all && n.asker != p {
		return false
	}
	if n.call.speech.now == nil || n.call.speech.now.sound == nil {
		n.model.Interrupt(0, cause) // it may be thinking, or waiting for a tool
	}
	return false
}

// keep passes on what was said in words, and remembers what is ours.
func (n *native) keep(text string, ours bool) {
	s := Said{Text: text, At: time.Now()}
	if !ours && n.asker != nil {
		s.By = n.asker.Person
	}
	if p := n.call.speech.now; ours && p != nil && p.sound != nil {
		p.inMemory.text += " " + text
	}
	if n.call.Keep != nil {
		n.call.Keep(s)
	}
}
