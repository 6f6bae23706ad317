package gemini

import (
	"context"
	"errors"
	"time"

	"clank/llm"
	"clank/llm/transport"
)

// Response is what a model said, in the vendor's words.
type Response struct {
	Content *Content // role "model", to be sent back as it is; without parts if nothing was said
	Finish  FinishReason
	Note    string // what the vendor says about Finish; may be empty
	Blocked string // by which rule the prompt was refused; empty if it was not
	Usage   llm.Usage
}

// Ask puts a conversation to the model and blocks until the whole answer is there, calling onDelta (which may be nil)
// with each piece as it arrives. Contents begin with one of role "user"; signatures missing for calls of other models
// are filled in on the way. Neither contents nor config is changed.
//
// When ctx ends it returns at once with [context.Cause] of ctx. Other failures are an [*llm.Error]. Only failures
// before the first event of an answer are tried again, so nothing is delivered twice.
func (m *Model) Ask(ctx context.Context, contents []*Content, config Config,
	onDelta func(llm.Delta),
) (Response, error) {
	emit := transport.Deltas(ctx, onDelta)
	body, err := m.body(contents, config)
	if err != nil {
		reported, _ := m.explain(err)
		return Response{}, reported
	}
	start := time.Now()
	answer, err := transport.CallWithRetry(ctx, m.RetryPolicy, m.explain, func(ctx context.Context) (Response, error) {
		return m.once(ctx, body, emit)
	})
	if err != nil {
		return Response{}, err
	}
	m.LogAnswer(start, string(answer.Finish), answer.Usage)
	return answer, nil
}

// once asks one time. Its errors are for explain.
func (m *Model) once(ctx context.Context, body []byte, emit func(llm.Delta)) (Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return Response{}, context.Cause(ctx)
	}
	a := m.NewAttempt(cancel)
	defer a.StopTimer()
	req, err := m.newRequest(ctx, body)
	if err != nil {
		return Response{}, err
	}
	resp, kind, err := a.Send(req)
	if err == nil {
		defer func() { _ = resp.Body.Close() }() // the body was read as far as we want it
		c := &responseBuilder{}
		err = c.read(ctx, transport.ReadEvents(kind, resp.Body), func() {
			a.ShortenTimeout(time.Second) // usage may follow; a server that never hangs up must not hold us
		}, emit)
		if c.complete() && (ctx.Err() == nil || errors.Is(context.Cause(ctx), transport.ErrIdle)) {
			answer := c.answer() // whatever went wrong after its end
			answer.Usage = transport.WithPrice(m.Model, answer.Usage)
			return answer, nil
		}
	}
	if ctx.Err() != nil {
		return Response{}, context.Cause(ctx)
	}
	return Response{}, err
}
