package talk

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"clank/brain"
	"clank/cancel"
	"clank/voice/talk/memory"
	"clank/voice/talk/native"
	"clank/voice/talk/words"
)

const (
	quietFor   = 400 * time.Millisecond // nobody has made a sound for so long before we begin
	waitQuiet  = 10 * time.Second       // then we begin all the same
	maxQueued  = 16
	maxFed     = 64               // sentences that the mouth is given at once
	suspendFor = 10 * time.Second // what was interrupted by talk that is not ours is taken up within this
)

// part is something to say in one go.
type part struct {
	to        *person // whom it answers; nil: everybody
	job       *job    // of which it is news; nil: none
	sentences []string
	said      int              // of them, heard to their end
	answer    bool             // it is an answer, and stands in the history
	open      bool             // it is still being written
	over      bool             // nothing more of it is said
	unsaid    bool             // it cannot be said, and is written when it is whole
	cut       bool             // it is not written to its end
	whole     string           // what it is with what is not spoken
	question  bool             // it ends with a question
	short     bool             // an acknowledgement: said at once, not interrupted
	sound     native.Sound     // instead of sentences, of a native model; nil: none
	playback  *native.Playback // with sound
	text      string           // what is written if it cannot be spoken; empty: nothing, or written already

	queued  time.Time
	since   time.Time   // begun, the last time
	broken  *person     // who interrupted it
	dropped bool        // it is not to be taken up
	feed    chan string // to the mouth, while it is said
	fed     int         // sentences that the mouth has
	aloud   *memory.Aloud
	line    *memory.Entry           // in the history; nil: not yet
	cancel  context.CancelCauseFunc // of saying it
}

// speech is what is said, was interrupted, and waits to be said.
type speech struct {
	now       *part
	queue     []*part
	suspended *part
	until     time.Time // then what is suspended is given up
	pausedBy  *person
	aloud     memory.Speech
}

func (s *speech) idle() bool { return s.now == nil && len(s.queue) == 0 && s.suspended == nil }

// say queues p.
func (c *call) say(p *part) {
	if len(p.sentences) == 0 {
		return
	}
	if c.Mouth == nil {
		c.unspoken(p)
		return
	}
	p.queued = time.Now()
	if len(c.speech.queue) >= maxQueued {
		c.log.Warn("too much waits to be said; it is left out")
		c.unspoken(p)
		return
	}
	if p.short || !p.since.IsZero() { // the rest of what was begun
		c.speech.queue = append([]*part{p}, c.speech.queue...)
	} else {
		c.speech.queue = append(c.speech.queue, p)
	}
}

// unspoken is p where nothing can be said: it is written.
func (c *call) unspoken(p *part) {
	if p.open {
		p.unsaid, p.over = true, true
		return
	}
	if p.text != "" {
		c.write(Message{Text: p.text})
		p.text = ""
	}
	p.said = len(p.sentences)
	c.remember(p)
}

// sayShort acknowledges something.
func (c *call) sayShort(text string) {
	c.showOurs(text)
	c.say(&part{sentences: []string{text}, short: true, text: text})
}

// sayFor is news of a job, which goes with it.
func (c *call) sayFor(j *job, text string) {
	c.showOurs(text)
	c.say(&part{to: j.by, job: j, sentences: []string{text}})
}

// show has something read that was understood or said.
func (c *call) show(s Said) {
	if c.Show != nil {
		c.Show(s)
	}
}

// showOurs has something read that we say; where we cannot speak, it is written or left out.
func (c *call) showOurs(text string) {
	if c.Mouth != nil {
		c.show(Said{Text: text, At: time.Now()})
	}
}

// answerShort answers with words of our own.
func (c *call) answerShort(p *person, text string) {
	c.answer(p, brain.Answer{Text: text})
}

// answer says what can be said, and writes what can only be read.
func (c *call) answer(p *person, a brain.Answer) {
	d := newDraft(p)
	c.writes(d, a.Text)
	c.ends(d, a)
}

// next begins to say what waits, if nobody speaks.
func (c *call) next(ctx context.Context) {
	s := &c.speech
	if s.now != nil || len(s.queue) == 0 || !c.connected || ctx.Err() != nil {
		return
	}
	p, now := s.queue[0], time.Now()
	if !p.short && !c.room.quiet(now, quietFor) && now.Sub(p.queued) < waitQuiet {
		return
	}
	s.queue = s.queue[1:]
	s.now, p.since = p, now
	ctx, p.cancel = context.WithCancelCause(ctx)
	p.aloud = s.aloud.Begin(strings.Join(p.sentences[p.said:], " "), now)
	over := func() {}
	ctx = c.account(ctx, p.to, "speak")
	if p.to != nil && (p.answer || p.sound != nil) { // so that it can be stopped from the chat, too
		said, handle := c.Scopes.Begin(ctx, c.reach.Here(), cancel.Work{ID: rand.Text(), Owner: p.to.ID, Label: "speaking"})
		ctx, over = said, handle.End
	}
	if p.sound != nil {
		c.play(ctx, p, over)
		return
	}
	feed := make(chan string, maxFed)
	p.feed, p.fed = feed, p.said
	p.serve()
	c.work.Go(func() {
		n, err := c.Mouth.Say(ctx, feed)
		over()
		c.post(func(ctx context.Context) { c.spokenTo(ctx, p, n, err) })
	})
}

// serve gives the mouth the sentences that it does not have yet, as far as it takes them: what is left is said after those.
func (p *part) serve() {
	for ; p.fed < len(p.sentences); p.fed++ {
		select {
		case p.feed <- p.sentences[p.fed]:
		default:
			return
		}
	}
}

// play plays an answer of a native model.
func (c *call) play(ctx context.Context, p *part, over func()) {
	playing := c.Mouth.Play(p.sound)
	p.playback.Play(playing)
	c.native.plays(true)
	c.work.Go(func() {
		err := playing.Wait(ctx)
		over()
		why := cancel.CauseOf(ctx, err)
		c.post(func(ctx context.Context) {
			c.native.said(p)
			if why != nil && why.Reason == cancel.Stopped && !p.dropped && p.broken == nil { // from the chat; by voice it is told already
				c.native.silenced(p)
			}
			p.dropped = err != nil
			c.spokenTo(ctx, p, 0, err)
		})
	})
}

// spokenTo is told that p has been said, or how much of it.
func (c *call) spokenTo(ctx context.Context, p *part, n int, err error) {
	s := &c.speech
	p.cancel(context.Canceled)
	p.aloud.Ended(time.Now())
	p.said = min(p.said+n, len(p.sentences))
	s.now = nil
	if s.pausedBy != nil { // only now that all was said
		c.resume()
	}
	c.native.plays(false)
	more := p.open || p.said < len(p.sentences)
	switch {
	case err == nil && (p.broken == nil && !p.dropped || !more):
		delete(c.told, "speak")
		if !more {
			c.remember(p)
		}
		c.place(p)
	case errors.Is(err, ErrNoWords):
		c.unspoken(p)
	case p.broken != nil && !p.dropped && ctx.Err() == nil:
		s.suspended, s.until = p, time.Now().Add(suspendFor)
	case p.broken != nil || p.dropped || ctx.Err() != nil || causeOf(err) != nil:
		c.remember(p)
	default:
		c.log.Error("not spoken", "error", err)
		c.tell("speak", "I cannot speak at the moment, so I write: "+words.Sentence(err.Error()))
		c.unspoken(p)
	}
	c.next(ctx)
}

// remember puts what was said of an answer into the history, and lets the person go on without our name.
func (c *call) remember(p *part) {
	p.over = true
	if !p.answer {
		return
	}
	p.answer = false
	line := brain.Line{Mine: true, Text: strings.Join(p.sentences[:p.said], " ")}
	switch rest := p.sentences[p.said:]; {
	case len(rest) > 0:
		line.Notes = []string{"interrupted here; not said: " + strings.Join(rest, " ")}
	case p.open:
		line.Notes = []string{"interrupted here"}
	default:
		line.Text = p.whole
	}
	now := time.Now()
	p.line = c.lines.Add(line, now)
	if p.cut {
		c.quote(p)
	}
	if p.to != nil && p.to.here && !p.to.out {
		span := c.followUp()
		if p.question {
			span = c.awaited()
		}
		p.to.openUntil = now.Add(span)
	}
}

// dropFor takes back the news of a job that is over.
func (c *call) dropFor(j *job) {
	c.dropWhere(func(p *part) bool { return p.job == j }, nil)
}

// dropWhere takes back what is to be said, waits or is being said, and reports whether there was something.
func (c *call) dropWhere(which func(*part) bool, cause error) (any bool) {
	s := &c.speech
	var kept []*part
	for _, p := range s.queue {
		if !which(p) {
			kept = append(kept, p)
			continue
		}
		any = true
		c.remember(p)
	}
	s.queue = kept
	if p := s.suspended; p != nil && which(p) {
		s.suspended, any = nil, true
		c.remember(p)
	}
	if p := s.now; p != nil && which(p) && cause != nil {
		any = true
		p.dropped = true
		c.silence(p, cause)
	}
	return any
}

// silence ends what is being said, also if the mouth is only about to say it.
func (c *call) silence(p *part, cause error) {
	c.Mouth.Silence(cause)
	p.cancel(cause)
}
