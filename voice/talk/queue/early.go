package queue

import (
	"context"
	"errors"

	"clank/voice"
)

var (
	errTaken    = errors.New("the words are taken")
	errNotEarly = errors.New("not put into words yet")
)

// Early is what somebody has said until they paused, on its way to words: if they have ended there, the words are ready, or nearly so, when
// that is certain. A nil one has none.
type Early struct {
	stop context.CancelCauseFunc
	done chan struct{} // closed after the others are set
	tr   voice.Transcript
	err  error
}

// NewEarly makes one whose work stop ends.
func NewEarly(stop context.CancelCauseFunc) *Early {
	return &Early{stop: stop, done: make(chan struct{})}
}

// Set tells, once, what has come of it.
func (e *Early) Set(tr voice.Transcript, err error) {
	e.tr, e.err = tr, err
	close(e.done)
}

// Drop ends the work, as nobody wants to know any more.
func (e *Early) Drop(why error) {
	if e != nil {
		e.stop(why)
	}
}

// Words waits for the words, as long as ctx lasts.
func (e *Early) Words(ctx context.Context) (voice.Transcript, error) {
	if e == nil {
		return voice.Transcript{}, errNotEarly
	}
	defer e.stop(errTaken)
	select {
	case <-e.done:
		return e.tr, e.err
	case <-ctx.Done():
		return voice.Transcript{}, context.Cause(ctx)
	}
}
