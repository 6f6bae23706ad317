package talk

import (
	"context"
	"errors"

	"clank/voice"
)

// maxEarly is how often what is said in one go is put into words before it is over: each pause in it may be its end, and costs.
const maxEarly = 2

var (
	errGoesOn   = errors.New("they go on")
	errNotEarly = errors.New("not put into words yet")
)

// early is what somebody has said until they paused, on its way to words: if they have ended there, the words are ready, or nearly so, when
// that is certain.
type early struct {
	stop context.CancelCauseFunc
	done chan struct{} // closed after the others are set
	tr   voice.Transcript
	err  error
}

// paused is told what somebody has said who may have ended.
func (c *call) paused(ctx context.Context, u voice.Utterance) {
	p := c.room.people[u.From]
	if p == nil || c.heed(p) || c.NewNative != nil || c.Transcriber == nil || p.busy || p.tries == maxEarly || !c.clear(p, u) || !c.hears(p, u).may {
		return
	}
	p.early.drop(errGoesOn)
	p.tries++
	one, done := context.WithTimeout(c.account(ctx, p, "transcribe"), hearTimeout)
	one, stop := context.WithCancelCause(one)
	e := &early{stop: stop, done: make(chan struct{})}
	p.early = e
	c.work.Go(func() {
		defer done()
		defer close(e.done)
		e.tr, e.err = c.Transcriber.Transcribe(one, u)
	})
}

// drop ends e, of which nobody wants to know any more. Of nil it does nothing.
func (e *early) drop(why error) {
	if e != nil {
		e.stop(why)
	}
}

// words waits for the words, as long as ctx lasts.
func (e *early) words(ctx context.Context) (voice.Transcript, error) {
	if e == nil {
		return voice.Transcript{}, errNotEarly
	}
	defer e.stop(errGoesOn)
	select {
	case <-e.done:
		return e.tr, e.err
	case <-ctx.Done():
		return voice.Transcript{}, context.Cause(ctx)
	}
}
