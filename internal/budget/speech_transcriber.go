package budget

import (
	"context"
	"time"

	"clank/llm"
	"clank/voice"
)

// LimitedTranscriber is a [voice.Transcriber] within the budget. Where that is spent nothing is sent, and the error is an [*llm.Error] of the
// kind [llm.ErrBudgetSpent].
type LimitedTranscriber struct {
	voice.Transcriber

	Enforcer *Enforcer
	Model    AudioModel
}

// Transcribe implements [voice.Transcriber].
func (t *LimitedTranscriber) Transcribe(ctx context.Context, u voice.Utterance) (said voice.Transcript, err error) {
	if !u.Loud || len(u.Packets) == 0 { // nothing is sent
		return t.Transcriber.Transcribe(ctx, u)
	}
	length := max(u.Ended.Sub(u.Began), time.Duration(len(u.Packets))*voice.FrameTime)
	took := t.Model.transcriptionUsage(length)
	e := Estimate{Model: t.Model.ledgerName(), Usage: took, Time: length}
	err = t.Enforcer.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
		said, err = t.Transcriber.Transcribe(ctx, u)
		return took, length, err
	})
	return said, err
}
