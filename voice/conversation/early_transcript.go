package conversation

import (
	"context"
	"errors"

	"clank/voice"
)

var (
	errTranscriptUsed    = errors.New("the words are taken")
	errNoEarlyTranscript = errors.New("not put into words yet")
)

// earlyTranscript is what somebody has said until they paused, on its way to words: if they have ended there, the words are ready, or nearly so, when
// that is certain. A nil one has none.
type earlyTranscript struct {
	stop       context.CancelCauseFunc
	done       chan struct{} // closed after the others are set
	transcript voice.Transcript
	err        error
}

// newEarlyTranscript makes one whose work stop ends.
func newEarlyTranscript(stop context.CancelCauseFunc) *earlyTranscript {
	return &earlyTranscript{stop: stop, done: make(chan struct{})}
}

// Finish tells, once, what has come of it.
func (e *earlyTranscript) Finish(tr voice.Transcript, err error) {
	e.transcript, e.err = tr, err
	close(e.done)
}

// Cancel ends the work, as nobody wants to know any more.
func (e *earlyTranscript) Cancel(why error) {
	if e != nil {
		e.stop(why)
	}
}

// Wait waits for the words, as long as ctx lasts.
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

// maxEarly is how often what is said in one go is put into words before it is over: each pause in it may be its end, and costs.
const maxEarly = 2

// errSpeechResumed ends what is done with half of what somebody says.
var errSpeechResumed = errors.New("they go on")

// handlePause handles what was said by a person who may have finished.
func (c *call) handlePause(ctx context.Context, u voice.Utterance) {
	p := c.room.people[u.From]
	if p == nil || c.applyPrivacy(p) || c.NewNative != nil || c.Transcriber == nil || p.transcribing || p.earlyTries == maxEarly || !c.isSpeech(p, u) || !c.classify(p, u).addressed {
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
