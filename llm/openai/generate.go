package openai

import (
	"context"
	"errors"
	"io"
	"time"

	"clank/llm"
	"clank/llm/transport"

	client "github.com/sashabaranov/go-openai"
)

// Generate implements llm.Model. Only failures before the first text of an answer are tried again, so nothing is
// delivered twice. An answer without any content is a reply without parts, not an error.
func (m *Model) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	return m.call(ctx, transport.Deltas(ctx, onDelta),
		func(ctx context.Context, c *client.Client) (eventStream, replyDecoder, error) {
			return m.open(ctx, c, req)
		})
}

// openFunc sends a request and waits for the head of the answer.
type openFunc func(context.Context, *client.Client) (eventStream, replyDecoder, error)

// call makes a call and logs that it was answered. Its errors are those of Generate.
func (m *Model) call(ctx context.Context, emit func(llm.Delta), open openFunc) (llm.Reply, error) {
	start := time.Now()
	reply, err := transport.CallWithRetry(ctx, m.RetryPolicy, m.explain, func(ctx context.Context) (llm.Reply, error) {
		return m.once(ctx, emit, open)
	})
	if err == nil {
		m.LogAnswer(start, string(reply.Stop), reply.Usage)
	}
	return reply, err
}

// replyDecoder puts an answer together from the data of its events.
type replyDecoder interface {
	event(data []byte, emit func(llm.Delta)) error
	complete() bool // the server has said that the answer is whole
	reply() llm.Reply
}

// eventStream is what the client library's two streams have in common.
type eventStream interface {
	RecvRaw() ([]byte, error)
	Close() error
}

// once asks one time. Its errors are for explain.
func (m *Model) once(ctx context.Context, emit func(llm.Delta), open openFunc) (llm.Reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return llm.Reply{}, context.Cause(ctx)
	}
	a := &eventTransport{m.NewAttempt(cancel)}
	defer a.StopTimer()
	s, dec, err := open(ctx, m.client(a))
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return llm.Reply{}, err
	}
	defer func() { _ = s.Close() }() // the body was read as far as we want it
	if err := m.receive(ctx, s, dec, a, emit); err != nil {
		return llm.Reply{}, err
	}
	return m.priced(dec), nil
}

func (m *Model) client(a *eventTransport) *client.Client {
	config := client.DefaultConfig(m.Key)
	config.BaseURL = m.baseURL
	config.HTTPClient = a
	config.EmptyMessagesLimit = ^uint(0) // silence is measured in time, by the attempt
	return client.NewClientWithConfig(config)
}

// open sends the request and waits for the head of the answer.
func (m *Model) open(ctx context.Context, c *client.Client, req llm.Request) (eventStream, replyDecoder, error) {
	if m.api == APIResponses {
		s, err := c.CreateResponseStream(ctx, m.responsesRequest(req))
		if err != nil {
			return nil, nil, err
		}
		return s, newResponsesDecoder(m.owner()), nil
	}
	s, err := c.CreateChatCompletionStream(ctx, m.chatRequest(req))
	if err != nil {
		return nil, nil, err
	}
	return s, newChatDecoder(m.owner()), nil
}

// receive reads events until the answer is complete and the body ends. Once it
// is complete, what happens to the connection no longer matters.
func (m *Model) receive(ctx context.Context, s eventStream, dec replyDecoder, a *eventTransport,
	emit func(llm.Delta),
) error {
	delivered := false
	deliver := func(d llm.Delta) {
		delivered = delivered || d != llm.Delta{}
		emit(d)
	}
	for events := 0; ; events++ {
		data, err := s.RecvRaw()
		if ctx.Err() != nil && (!dec.complete() || !errors.Is(context.Cause(ctx), transport.ErrIdle)) {
			return context.Cause(ctx)
		}
		switch {
		case err != nil && dec.complete():
			return nil
		case errors.Is(err, io.EOF):
			return &transport.TruncatedError{}
		case err != nil && events > 0 && !errors.Is(err, transport.ErrTooLong):
			return &transport.TruncatedError{Err: err}
		case err != nil:
			return err
		case len(data) == 0: // a sign of life
			continue
		}
		err = dec.event(data, deliver)
		if err != nil && !dec.complete() {
			if inStream, ok := errors.AsType[*transport.StreamError](err); ok {
				inStream.Early = !delivered
			}
			return err
		}
		if dec.complete() {
			a.ShortenTimeout(time.Second) // usage may follow; a server that never hangs up must not hold us
		}
	}
}

// priced returns the reply that came together in dec, with what it cost.
func (m *Model) priced(dec replyDecoder) llm.Reply {
	r := dec.reply()
	if !llm.ChargesCacheWrites(m.Model) {
		r.Usage.CacheWriteTokens = 0 // older models report it, too, but do not charge for it
	}
	r.Usage = transport.WithPrice(m.Model, r.Usage)
	return r
}

// owner marks what only this model of this server understands.
func (m *Model) owner() string {
	return m.Endpoint.Host + " " + string(m.api) + " " + m.Model
}
