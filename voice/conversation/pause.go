package conversation

import (
	"context"
	"errors"

	"clank/voice"
)

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
