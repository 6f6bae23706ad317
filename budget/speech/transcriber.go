package speech

import (
	"context"
	"time"

	"clank/budget"
	"clank/llm"
	"clank/voice"
)

// Transcriber is a [voice.Transcriber] within the budget. Where that is spent nothing is sent, and the error is an [*llm.Error] of the
// kind [llm.ErrSpent].
type Transcriber struct {
	voice.Transcriber

	Keeper *budget.Keeper
	Model  Model
}

// Transcribe implements [voice.Transcriber].
func (t *Transcriber) Transcribe(ctx context.Context, u voice.Utterance) (said voice.Transcript, err error) {
	if !u.Loud || len(u.Packets) == 0 { // nothing is sent
		return t.Transcriber.Transcribe(ctx, u)
	}
	length := max(u.Ended.Sub(u.Began), time.Duration(len(u.Packets))*voice.FrameTime)
	took := t.Model.hearing(length)
	e := budget.Estimate{Model: t.Model.ledger(), Usage: took, Time: length}
	err = t.Keeper.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
		said, err = t.Transcriber.Transcribe(ctx, u)
		return took, length, err
	})
	return said, err
}
