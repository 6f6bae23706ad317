package talk

import (
	"context"
	"errors"
	"strings"
	"time"

	"clank/cancel"
	"clank/voice"
	"clank/voice/audio"
	"clank/voice/talk/phrases"
	"clank/voice/talk/queue"
	"clank/voice/talk/words"
)

const (
	wakeFor     = 10 * time.Second       // our name counts for an utterance that ends so soon after it
	minSaid     = 200 * time.Millisecond // what is shorter is a noise
	maxUnheard  = 4                      // utterances of one person that wait to be put into words
	maxWords    = 4000                   // characters of one utterance
	hearTimeout = 30 * time.Second
	stopSlack   = 1500 * time.Millisecond // between a spotted stop and the end of its utterance
	bareStop    = 2500 * time.Millisecond // an utterance with a spotted stop that is longer may say more
)

// heard is an utterance on its way to words.
type heard struct {
	voice.Utterance

	wake bool // our name was spotted in it
	may  bool // it is likely to be said to us

	early *queue.Early // it is put into words already; nil: not yet
}

// sound is told of live sound.
func (c *call) sound(ctx context.Context, s voice.Sound) {
	p := c.room.people[s.From]
	if p == nil || c.heed(p) {
		return
	}
	if c.Spotter != nil {
		if p.ears == nil {
			c.listenTo(ctx, p)
			p.claimed = time.Time{}
		}
		c.claims(p, time.Now())
		p.ears.Write(c.at(&p.toSpot, s, voice.RateSpeech))
	}
	if c.native != nil {
		c.native.hear(ctx, p, c.at(&p.toNative, s, voice.RateRealtime))
	}
}

// at is s at a rate, by a resampler that goes on from one piece of sound to the next.
func (c *call) at(with **audio.Resampler, s voice.Sound, rate int) voice.Sound {
	if s.Rate == rate {
		return s
	}
	if *with == nil {
		r, err := audio.NewResampler(s.Rate, rate)
		if err != nil {
			c.log.Error("sound has a rate that cannot be used", "rate", s.Rate, "error", err)
			return voice.Sound{From: s.From, Rate: rate, At: s.At}
		}
		*with = r
	}
	s.Samples, s.Rate = (*with).Write(s.Samples), rate
	return s
}

// said is told of a whole utterance.
func (c *call) said(ctx context.Context, u voice.Utterance) {
	p := c.room.people[u.From]
	if p == nil || c.heed(p) {
		return
	}
	early := p.early
	p.early, p.tries = nil, 0
	if !c.clear(p, u) {
		early.Drop(errLeftOut)
		c.notOurs(p)
		return
	}
	h := c.hears(p, u)
	h.early = early
	if c.NewNative != nil || c.Transcriber == nil {
		c.notOurs(p)
		return
	}
	if !h.may && !c.Manners.TranscribeAll {
		p.late = &h
		c.notOurs(p)
		return
	}
	c.takeIn(ctx, p, h)
}

// clear reports whether an utterance is more than a noise, and than a stop that was done.
func (c *call) clear(p *person, u voice.Utterance) bool {
	long := u.Ended.Sub(u.Began)
	return u.Loud && long >= minSaid && (long >= bareStop || !stopped(p, u))
}

// hears is an utterance, and whether it is likely to be said to us.
func (c *call) hears(p *person, u voice.Utterance) heard {
	h := heard{Utterance: u, wake: !p.woken.Before(u.Began) && !p.woken.IsZero()}
	h.may = h.wake || c.room.alone(p) || u.Began.Before(p.openUntil)
	return h
}

// takeIn has an utterance put into words in its turn.
func (c *call) takeIn(ctx context.Context, p *person, h heard) {
	p.late = nil
	if len(p.unheard) == maxUnheard {
		c.log.Warn("speech comes faster than it is put into words; the oldest is left out")
		p.unheard = p.unheard[1:]
	}
	p.unheard = append(p.unheard, h)
	c.transcribe(ctx, p)
}

// stopped reports whether u is the utterance in which p was spotted saying stop.
func stopped(p *person, u voice.Utterance) bool {
	return !p.stopped.IsZero() && !p.stopped.Before(u.Began) && p.stopped.Before(u.Ended.Add(stopSlack))
}

// transcribe puts the next utterance of p into words. One at a time, so that they come in order.
func (c *call) transcribe(ctx context.Context, p *person) {
	if p.busy || c.heed(p) || len(p.unheard) == 0 {
		return
	}
	h := p.unheard[0]
	p.unheard, p.busy = p.unheard[1:], true
	one, done := context.WithTimeout(c.account(ctx, p, "transcribe"), hearTimeout)
	one, p.unhear = context.WithCancelCause(one)
	c.work.Go(func() {
		defer done()
		tr, err := h.early.Words(one)
		if err != nil && one.Err() == nil {
			tr, err = c.Transcriber.Transcribe(one, h.Utterance)
		}
		c.post(func(ctx context.Context) {
			if p.busy, p.unhear = false, nil; errors.Is(context.Cause(one), errLeftOut) {
				c.transcribe(ctx, p) // they may have come back since
				return
			}
			c.understood(ctx, p, h, tr.Text, err)
			c.transcribe(ctx, p)
		})
	})
}

// understood is told what p has said.
func (c *call) understood(ctx context.Context, p *person, h heard, text string, err error) {
	switch {
	case ctx.Err() != nil || c.heed(p): // they may have asked to be left out meanwhile
		return
	case c.spent(p, err):
		c.notOurs(p)
		return
	case err != nil:
		c.notOurs(p)
		c.log.Error("speech not put into words", "error", err)
		c.tell("hear", "I could not understand what was said: "+words.Sentence(err.Error())+c.able().StillStops())
		return
	}
	delete(c.told, "hear")
	delete(c.warned, spentBy(p))
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > maxWords { // nobody says so much in one go
		text = string(r[:maxWords]) + "…"
	}
	if !words.Any(text) {
		c.notOurs(p)
		return
	}
	if c.speech.aloud.IsEcho(text, h.Began, h.Ended) {
		p.echoes++
		c.notOurs(p)
		return
	}
	s := Said{By: p.Person, Text: text, At: h.Began}
	if c.Keep != nil {
		c.Keep(s)
	}
	c.show(s)
	named, rest := words.Named(text, c.Manners.Names)
	switch {
	case cancel.IsStop(text), named && cancel.IsStop(rest): // our name may be misheard
		if stopped(p, h.Utterance) || c.stop(p, named || h.wake) {
			return
		}
	case named && words.IsPrivacy(rest):
		c.leaveOut(ctx, p)
		return
	}
	if !named && !h.may {
		c.notOurs(p)
		return
	}
	p.echoes = 0
	c.ask(ctx, p, rest)
}

// leaveOut has p not be heard any more, because they said so.
func (c *call) leaveOut(ctx context.Context, p *person) {
	if c.Privacy == nil {
		c.answerShort(p, phrases.Mute)
		return
	}
	p.says = true
	c.heed(p)
	id, name := p.ID, p.name()
	c.work.Go(func() {
		one, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer done()
		err := c.Privacy.Set(one, c.Place.Guild, id, true)
		c.post(func(context.Context) {
			p.says = false
			if err != nil {
				c.log.Error("choice to be left out not kept", "error", err)
			}
			c.write(Message{Text: phrases.LeftOut(name, err)})
			c.sayShort(phrases.Unheard)
		})
	})
}
