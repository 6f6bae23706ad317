package talk

import (
	"context"
	"errors"

	"clank/voice"
	"clank/voice/talk/queue"
)

// maxEarly is how often what is said in one go is put into words before it is over: each pause in it may be its end, and costs.
const maxEarly = 2

// errGoesOn ends what is done with half of what somebody says.
var errGoesOn = errors.New("they go on")

// paused is told what somebody has said who may have ended.
func (c *call) paused(ctx context.Context, u voice.Utterance) {
	p := c.room.people[u.From]
	if p == nil || c.heed(p) || c.NewNative != nil || c.Transcriber == nil || p.busy || p.tries == maxEarly || !c.clear(p, u) || !c.hears(p, u).may {
		return
	}
	p.early.Drop(errGoesOn)
	p.tries++
	one, done := context.WithTimeout(c.account(ctx, p, "transcribe"), hearTimeout)
	one, stop := context.WithCancelCause(one)
	e := queue.NewEarly(stop)
	p.early = e
	c.work.Go(func() {
		defer done()
		e.Set(c.Transcriber.Transcribe(one, u))
	})
}
