package conversation

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/i18n"
	"clank/voice/speech/playout"
)

const (
	quietFor        = 400 * time.Millisecond // of silence before we begin
	waitQuiet       = 10 * time.Second       // then we begin all the same
	maxQueued       = 16
	maxFedSentences = 64               // sentences given to the player at once
	suspendFor      = 10 * time.Second // within which interrupted speech may continue
)

// speechItem is something to say in one go.
type speechItem struct {
	to              *person // the person whom it answers; nil: everyone
	job             *job    // of which it is news; nil: none
	sentences       []string
	saidCount       int               // of them, heard to their end
	answer          bool              // it is an answer and part of the history
	writing         bool              // it is still being written
	finished        bool              // nothing is added to it any more
	textOnly        bool              // it cannot be said, and is written when it is whole
	truncated       bool              // it is not written to its end
	fullText        string            // with what is not spoken
	question        bool              // it ends with a question
	acknowledgement bool              // an acknowledgement: spoken immediately, not interrupted
	sound           playout.SoundFunc // instead of sentences, of a native model; nil: none
	playback        *PendingPlayback  // with sound
	text            string            // what is written if it cannot be spoken; empty: nothing, or already written

	queuedAt      time.Time
	startedAt     time.Time   // begun, the last time
	interruptedBy *person     // the person who interrupted it
	dropped       bool        // it is not to be taken up
	feed          chan string // to the mouth, while it is said
	fedCount      int         // sentences that the mouth has
	ownSpeech     *OwnSpeech
	entry         *HistoryEntry           // in the history; nil if not yet
	cancel        context.CancelCauseFunc // of saying it
}

// speechQueue is what is being said, what was interrupted, and what waits.
type speechQueue struct {
	current        *speechItem
	queue          []*speechItem
	suspended      *speechItem
	suspendedUntil time.Time // when what is suspended is dropped
	pausedBy       *person
	echo           EchoDetector
}

func (s *speechQueue) idle() bool { return s.current == nil && len(s.queue) == 0 && s.suspended == nil }

// say queues p.
func (c *call) say(p *speechItem) {
	if len(p.sentences) == 0 {
		return
	}
	if c.Player == nil {
		c.writeInstead(p)
		return
	}
	p.queuedAt = time.Now()
	if len(c.speech.queue) >= maxQueued {
		c.log.Warn("too much waits to be said; it is left out")
		c.writeInstead(p)
		return
	}
	if p.acknowledgement || !p.startedAt.IsZero() { // the rest of what has begun
		c.speech.queue = append([]*speechItem{p}, c.speech.queue...)
	} else {
		c.speech.queue = append(c.speech.queue, p)
	}
}

// writeInstead writes p where nothing can be spoken.
func (c *call) writeInstead(p *speechItem) {
	if p.writing {
		p.textOnly, p.finished = true, true
		return
	}
	if p.text != "" {
		c.write(Message{Text: p.text})
		p.text = ""
	}
	p.saidCount = len(p.sentences)
	c.addToHistory(p)
}

// own returns the language of our own sentences: that of the voice, or of the chat without one.
func (c *call) own() i18n.Locale {
	if c.Player == nil {
		return c.Locale
	}
	return c.VoiceLocale
}

// acknowledge acknowledges something, in an English text that is translated.
func (c *call) acknowledge(text string) {
	text = c.own().Text(text)
	c.showOwnLine(text)
	c.say(&speechItem{sentences: []string{text}, acknowledgement: true, text: text})
}

// sayFor speaks an update about a job, with an English text that is translated. It is dropped with the job.
func (c *call) sayFor(j *job, text string) {
	text = c.own().Text(text)
	c.showOwnLine(text)
	c.say(&speechItem{to: j.by, job: j, sentences: []string{text}})
}

// showLine has something read that was understood or said.
func (c *call) showLine(l TranscriptLine) { c.Chat.ShowLine(l) }

// showOwnLine has something read that we say; where we cannot speak, it is written or left out.
func (c *call) showOwnLine(text string) {
	if c.Player != nil {
		c.showLine(TranscriptLine{Text: text, At: time.Now()})
	}
}

// answerText answers with words of our own, an English text that is translated.
func (c *call) answerText(p *person, text string) {
	c.answer(p, assistant.Answer{Text: c.own().Sentence(text)})
}

// answer speaks what can be spoken, and writes the rest.
func (c *call) answer(p *person, a assistant.Answer) {
	d := c.newDraft(p)
	c.appendToDraft(d, a.Text)
	c.finishDraft(d, a)
}

// speakNext begins to speak what waits, if nobody speaks.
func (c *call) speakNext(ctx context.Context) {
	s := &c.speech
	if s.current != nil || len(s.queue) == 0 || !c.connected || ctx.Err() != nil {
		return
	}
	p, now := s.queue[0], time.Now()
	if !p.acknowledgement && !c.participants.quiet(now, quietFor) && now.Sub(p.queuedAt) < waitQuiet {
		return
	}
	s.queue = s.queue[1:]
	s.current, p.startedAt = p, now
	ctx, p.cancel = context.WithCancelCause(ctx)
	p.ownSpeech = s.echo.Begin(strings.Join(p.sentences[p.saidCount:], " "), now)
	over := func() {}
	ctx = c.withAccount(ctx, p.to, "speak")
	if p.to != nil && (p.answer || p.sound != nil) { // so that it can be stopped from the chat, too
		said, handle := c.Scopes.Begin(ctx, c.workScopes.Current(),
			cancel.Work{ID: rand.Text(), Owner: p.to.ID, Label: "speaking"})
		ctx, over = said, handle.End
	}
	if p.sound != nil {
		c.playSound(ctx, p, over)
		return
	}
	feed := make(chan string, maxFedSentences)
	p.feed, p.fedCount = feed, p.saidCount
	p.feedSentences()
	c.work.Go(func() {
		n, err := c.Player.Say(ctx, feed)
		over()
		c.post(func(ctx context.Context) { c.handleSpoken(ctx, p, n, err) })
	})
}

// feedSentences gives the player the sentences that it does not have yet, as many as it accepts; the others follow
// later.
func (p *speechItem) feedSentences() {
	for ; p.fedCount < len(p.sentences); p.fedCount++ {
		select {
		case p.feed <- p.sentences[p.fedCount]:
		default:
			return
		}
	}
}

// playSound plays an answer of a native model.
func (c *call) playSound(ctx context.Context, p *speechItem, over func()) {
	playing := c.Player.Play(p.sound)
	p.playback.Attach(playing)
	c.native.setPlaying(true)
	c.work.Go(func() {
		err := playing.Wait(ctx)
		over()
		why := cancel.CauseOf(ctx, err)
		c.post(func(ctx context.Context) {
			c.native.handleAnswerEnd(p)
			// stopped in the chat; a spoken stop was confirmed already
			if why != nil && why.Reason == cancel.Stopped && !p.dropped && p.interruptedBy == nil {
				c.native.handleInterrupted(p)
			}
			p.dropped = err != nil
			c.handleSpoken(ctx, p, 0, err)
		})
	})
}

// handleSpoken handles that p was said, in whole or in part.
func (c *call) handleSpoken(ctx context.Context, p *speechItem, n int, err error) {
	s := &c.speech
	p.cancel(context.Canceled)
	p.ownSpeech.End(time.Now())
	p.saidCount = min(p.saidCount+n, len(p.sentences))
	s.current = nil
	if s.pausedBy != nil { // only now that all was said
		c.resume()
	}
	c.native.setPlaying(false)
	more := p.writing || p.saidCount < len(p.sentences)
	switch {
	case err == nil && (p.interruptedBy == nil && !p.dropped || !more):
		delete(c.reportedAt, "speak")
		if !more {
			c.addToHistory(p)
		}
		c.schedule(p)
	case errors.Is(err, playout.ErrNoSynthesizer):
		c.writeInstead(p)
	case p.interruptedBy != nil && !p.dropped && ctx.Err() == nil:
		s.suspended, s.suspendedUntil = p, time.Now().Add(suspendFor)
	case p.interruptedBy != nil || p.dropped || ctx.Err() != nil || causeOf(err) != nil:
		c.addToHistory(p)
	case c.participants.humans() == 0: // a call without people may have no line
		c.writeInstead(p)
	default:
		c.log.Error("not spoken", "error", err)
		c.reportOnce("speak", c.Locale.T("I cannot speak at the moment, so I write: %s", c.reason(err)))
		c.writeInstead(p)
	}
	c.speakNext(ctx)
}

// addToHistory adds what was spoken of an answer to the history, and lets the person continue without our name.
func (c *call) addToHistory(p *speechItem) {
	p.finished = true
	if !p.answer {
		return
	}
	p.answer = false
	line := assistant.ChatLine{FromAssistant: true, Text: strings.Join(p.sentences[:p.saidCount], " ")}
	switch rest := p.sentences[p.saidCount:]; {
	case len(rest) > 0:
		line.Notes = []string{"interrupted here; not said: " + strings.Join(rest, " ")}
	case p.writing:
		line.Notes = []string{"interrupted here"}
	default:
		line.Text = p.fullText
	}
	now := time.Now()
	p.entry = c.history.Add(line, now)
	if p.truncated {
		c.recordHeardPart(p)
	}
	if p.to != nil && p.to.present && !p.to.optedOut {
		span := followUpWindow
		if p.question {
			span = answerWindow
		}
		p.to.openUntil = now.Add(span)
	}
}

// dropProgress drops the updates about a job that has ended.
func (c *call) dropProgress(j *job) {
	c.dropWhere(func(p *speechItem) bool { return p.job == j }, nil)
}

// dropWhere drops what is being said, is suspended or waits, and reports whether there was anything.
func (c *call) dropWhere(which func(*speechItem) bool, cause error) (any bool) {
	s := &c.speech
	var kept []*speechItem
	for _, p := range s.queue {
		if !which(p) {
			kept = append(kept, p)
			continue
		}
		any = true
		c.addToHistory(p)
	}
	s.queue = kept
	if p := s.suspended; p != nil && which(p) {
		s.suspended, any = nil, true
		c.addToHistory(p)
	}
	if p := s.current; p != nil && which(p) && cause != nil {
		any = true
		p.dropped = true
		c.silence(p, cause)
	}
	return any
}

// silence ends what is being said, also if the player has not begun yet.
func (c *call) silence(p *speechItem, cause error) {
	c.Player.Silence(cause)
	p.cancel(cause)
}
