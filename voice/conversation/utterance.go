package conversation

import (
	"context"
	"errors"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/voice"
)

const (
	wakeWindow           = 10 * time.Second       // our name counts for an utterance that ends so soon after it
	minUtterance         = 200 * time.Millisecond // shorter sounds are noise
	maxPendingUtterances = 4                      // utterances of one person that wait to be put into words
	maxTranscript        = 4000                   // characters of one utterance
	transcribeTimeout    = 30 * time.Second
	stopSlack            = 1500 * time.Millisecond // between a spotted stop and the end of its utterance
	maxBareStop          = 2500 * time.Millisecond // an utterance with a spotted stop that is longer may say more
)

// pendingUtterance is an utterance on its way to words.
type pendingUtterance struct {
	voice.Utterance

	named     bool // our name was spotted in it
	addressed bool // it is likely to be said to us

	early *earlyTranscript // its running or finished transcription; nil: none yet
}

// handleSound handles live sound.
func (c *call) handleSound(ctx context.Context, s voice.Sound) {
	p := c.participants.people[s.From]
	if p == nil || c.applyPrivacy(p) {
		return
	}
	if c.Spotter != nil {
		if p.spotting == nil {
			c.startSpotting(ctx, p)
			p.prioritizedAt = time.Time{}
		}
		c.updatePriority(p, time.Now())
		p.spotting.Write(c.resampleTo(&p.spotterRate, s, voice.RateSpeech))
	}
	if c.native != nil {
		c.native.hearSound(ctx, p, c.resampleTo(&p.toNative, s, voice.RateRealtime))
	}
}

// resampleTo returns s at a rate, using a resampler that continues from one piece of sound to the next.
func (c *call) resampleTo(with **voice.Resampler, s voice.Sound, rate int) voice.Sound {
	if s.Rate == rate {
		return s
	}
	if *with == nil {
		r, err := voice.NewResampler(s.Rate, rate)
		if err != nil {
			c.log.Error("sound has a rate that cannot be used", "rate", s.Rate, "error", err)
			return voice.Sound{From: s.From, Rate: rate, At: s.At}
		}
		*with = r
	}
	s.Samples, s.Rate = (*with).Write(s.Samples), rate
	return s
}

// handleUtterance handles a complete utterance.
func (c *call) handleUtterance(ctx context.Context, u voice.Utterance) {
	p := c.participants.people[u.From]
	if p == nil || c.applyPrivacy(p) {
		return
	}
	early := p.early
	p.early, p.earlyTries = nil, 0
	if !c.isSpeech(p, u) {
		early.Cancel(errOptedOut)
		c.allowResume(p)
		return
	}
	h := c.classify(p, u)
	h.early = early
	if c.Native != nil || c.Transcriber == nil {
		c.allowResume(p)
		return
	}
	if !h.addressed && !c.Options.TranscribeAll {
		p.unaddressed = &h
		c.allowResume(p)
		return
	}
	c.queueTranscription(ctx, p, h)
}

// isSpeech reports whether an utterance is more than a noise, and than a stop that was done.
func (c *call) isSpeech(p *person, u voice.Utterance) bool {
	long := u.Ended.Sub(u.Began)
	return u.Loud && long >= minUtterance && (long >= maxBareStop || !saidStop(p, u))
}

// classify returns an utterance, and whether it is likely to be said to us.
func (c *call) classify(p *person, u voice.Utterance) pendingUtterance {
	h := pendingUtterance{Utterance: u, named: !p.namedAt.Before(u.Began) && !p.namedAt.IsZero()}
	h.addressed = h.named || c.participants.onlyHuman(p) || u.Began.Before(p.openUntil)
	return h
}

// queueTranscription has an utterance put into words in its turn.
func (c *call) queueTranscription(ctx context.Context, p *person, h pendingUtterance) {
	p.unaddressed = nil
	if len(p.pending) == maxPendingUtterances {
		c.log.Warn("speech comes faster than it is put into words; the oldest is left out")
		p.pending = p.pending[1:]
	}
	p.pending = append(p.pending, h)
	c.transcribeNext(ctx, p)
}

// saidStop reports whether u is the utterance in which p was spotted saying stop.
func saidStop(p *person, u voice.Utterance) bool {
	return !p.stoppedAt.IsZero() && !p.stoppedAt.Before(u.Began) && p.stoppedAt.Before(u.Ended.Add(stopSlack))
}

// transcribeNext transcribes the next utterance of p, one at a time, so that they stay in order.
func (c *call) transcribeNext(ctx context.Context, p *person) {
	if p.transcribing || c.applyPrivacy(p) || len(p.pending) == 0 {
		return
	}
	h := p.pending[0]
	p.pending, p.transcribing = p.pending[1:], true
	one, done := context.WithTimeout(c.withAccount(ctx, p, "transcribe"), transcribeTimeout)
	one, p.cancelTranscription = context.WithCancelCause(one)
	c.work.Go(func() {
		defer done()
		tr, err := h.early.Wait(one)
		if err != nil && one.Err() == nil {
			tr, err = c.Transcriber.Transcribe(one, h.Utterance)
		}
		c.post(func(ctx context.Context) {
			if p.transcribing, p.cancelTranscription = false, nil; errors.Is(context.Cause(one), errOptedOut) {
				c.transcribeNext(ctx, p) // they may have returned since
				return
			}
			c.handleTranscript(ctx, p, h, tr.Text, err)
			c.transcribeNext(ctx, p)
		})
	})
}

// handleTranscript handles what p has said.
func (c *call) handleTranscript(ctx context.Context, p *person, h pendingUtterance, text string, err error) {
	switch {
	case ctx.Err() != nil || c.applyPrivacy(p): // they may have opted out meanwhile
		return
	case c.reportSpent(p, err):
		c.allowResume(p)
		return
	case err != nil:
		c.allowResume(p)
		c.log.Error("speech not put into words", "error", err)
		text := c.Locale.T("I could not understand what was said: %s", c.reason(err))
		c.reportOnce("hear", text+c.capabilities().FallbackHint())
		return
	}
	delete(c.reportedAt, "hear")
	delete(c.warned, spentKey(p))
	text = untrusted.Shorten(strings.TrimSpace(text), maxTranscript) // nobody says so much at once
	if !HasWords(text) {
		c.allowResume(p)
		return
	}
	if c.speech.echo.IsEcho(text, h.Began, h.Ended) {
		p.echoes++
		c.allowResume(p)
		return
	}
	s := TranscriptLine{Speaker: p.Person, Text: text, At: h.Began}
	c.recordLine(s)
	c.showLine(s)
	named, rest := CutName(text, c.Options.Names)
	switch {
	case c.isStop(text), named && c.isStop(rest): // our name may be misheard
		if saidStop(p, h.Utterance) || c.stop(p, named || h.named) {
			return
		}
	case named && IsOptOutRequest(rest):
		c.optOut(ctx, p)
		return
	}
	if !named && !h.addressed {
		c.allowResume(p)
		return
	}
	p.echoes = 0
	c.handleRequest(ctx, p, rest)
}

// optOut stores that p has opted out, as they said.
func (c *call) optOut(ctx context.Context, p *person) {
	if c.Privacy == nil {
		c.answerText(p, muteText)
		return
	}
	p.optingOut = true
	c.applyPrivacy(p)
	id, name := p.ID, p.name()
	c.work.Go(func() {
		one, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer done()
		err := c.Privacy.Set(one, c.Location.Guild, id, true)
		c.post(func(context.Context) {
			p.optingOut = false
			if err != nil {
				c.log.Error("choice to be left out not kept", "error", err)
			}
			c.write(Message{Text: c.capabilities().OptOutConfirmed(name, err)})
			c.acknowledge(optedOutText)
		})
	})
}

var (
	errTranscriptUsed    = errors.New("the words are taken")
	errNoEarlyTranscript = errors.New("not put into words yet")
)

// earlyTranscript is the transcription of what a person said before a pause: if the pause is the end, the text is
// ready, or nearly so, when that is certain. A nil one has none.
type earlyTranscript struct {
	stop       context.CancelCauseFunc
	done       chan struct{} // closed after the others are set
	transcript voice.Transcript
	err        error
}

// newEarlyTranscript returns one whose transcription stop cancels.
func newEarlyTranscript(stop context.CancelCauseFunc) *earlyTranscript {
	return &earlyTranscript{stop: stop, done: make(chan struct{})}
}

// Finish sets the result, once.
func (e *earlyTranscript) Finish(tr voice.Transcript, err error) {
	e.transcript, e.err = tr, err
	close(e.done)
}

// Cancel cancels the transcription, whose result is no longer needed.
func (e *earlyTranscript) Cancel(why error) {
	if e != nil {
		e.stop(why)
	}
}

// Wait waits for the result until ctx ends.
func (e *earlyTranscript) Wait(ctx context.Context) (voice.Transcript, error) {
	if e == nil {
		return voice.Transcript{}, errNoEarlyTranscript
	}
	defer e.stop(errTranscriptUsed)
	select {
	case <-e.done:
		return e.transcript, e.err
	case <-ctx.Done():
		return voice.Transcript{}, context.Cause(ctx)
	}
}

// maxEarly limits how often an utterance is transcribed before its end: each pause may be the end, and each
// transcription costs.
const maxEarly = 2

// errSpeechResumed ends the processing of an unfinished utterance.
var errSpeechResumed = errors.New("they go on")

// handlePause handles the speech of a person who may have finished.
func (c *call) handlePause(ctx context.Context, u voice.Utterance) {
	p := c.participants.people[u.From]
	if p == nil || c.applyPrivacy(p) || c.Native != nil || c.Transcriber == nil || p.transcribing ||
		p.earlyTries == maxEarly || !c.isSpeech(p, u) || !c.classify(p, u).addressed {
		return
	}
	p.early.Cancel(errSpeechResumed)
	p.earlyTries++
	one, done := context.WithTimeout(c.withAccount(ctx, p, "transcribe"), transcribeTimeout)
	one, stop := context.WithCancelCause(one)
	e := newEarlyTranscript(stop)
	p.early = e
	c.work.Go(func() {
		defer done()
		e.Finish(c.Transcriber.Transcribe(one, u))
	})
}
