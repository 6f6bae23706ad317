package openai

import (
	"context"
	"errors"
	"io"
	"time"

	"clank/llm"

	client "github.com/sashabaranov/go-openai"
)

// Causes that end a call from inside.
var (
	errTimeout = errors.New("the call took too long")
	errIdle    = errors.New("the answer stalled")
)

// Generate implements llm.Model. Only failures before the first event of an
// answer are tried again, so nothing is delivered twice. An answer without any content is a reply
// without parts, not an error.
func (m *Model) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	callCtx, cancel := context.WithTimeoutCause(ctx, m.opts.Timeout, errTimeout)
	defer cancel()
	emit := func(d llm.Delta) {
		if onDelta != nil && ctx.Err() == nil && (d.Text != "" || d.Reasoning != "") {
			onDelta(d)
		}
	}
	return m.tries(ctx, callCtx, func() (llm.Reply, error) { return m.once(callCtx, req, emit) })
}

// tries makes a call until it succeeds or cannot. callCtx is ctx with the deadline
// of the whole call. Its errors are those of Generate.
func (m *Model) tries(ctx, callCtx context.Context, once func() (llm.Reply, error)) (llm.Reply, error) {
	start := time.Now()
	for try := 1; ; try++ {
		reply, err := once()
		if ctx.Err() != nil {
			return llm.Reply{}, context.Cause(ctx)
		}
		if err == nil {
			m.log.Debug("model answered", "model", m.Name(), "took", time.Since(start), "stop", reply.Stop,
				"input_tokens", reply.Usage.InputTokens, "output_tokens", reply.Usage.OutputTokens)
			return reply, nil
		}
		told, transient := m.explain(err)
		if !transient || try == maxTries {
			return llm.Reply{}, told
		}
		wait, ok := m.waitFor(callCtx, try, told)
		if !ok {
			return llm.Reply{}, told
		}
		m.log.Info("model call failed, trying again", "model", m.Name(), "try", try, "wait", wait,
			"kind", told.Kind, "status", told.Status, "reason", told.Message)
		if m.opts.OnRetry != nil {
			m.opts.OnRetry(Retry{Try: try, Wait: wait, Err: told})
		}
		if !sleep(callCtx, wait) {
			if ctx.Err() != nil {
				return llm.Reply{}, context.Cause(ctx)
			}
			return llm.Reply{}, told
		}
		if err := llm.Retry(callCtx, told); err != nil {
			return llm.Reply{}, err
		}
	}
}

// decoder puts an answer together from the data of its events.
type decoder interface {
	event(data []byte, emit func(llm.Delta)) error
	complete() bool // the server has said that the answer is whole
	reply() llm.Reply
}

// stream is what the client library's two streams have in common.
type stream interface {
	RecvRaw() ([]byte, error)
	Close() error
}

// once asks one time. Its errors are for explain.
func (m *Model) once(ctx context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	dec, err := m.exchange(ctx, func(ctx context.Context, c *client.Client) (stream, decoder, error) { return m.open(ctx, c, req) }, emit)
	if err != nil {
		return llm.Reply{}, err
	}
	return m.charge(dec.reply()), nil
}

// exchange sends a request and takes in the whole answer.
func (m *Model) exchange(
	ctx context.Context, open func(context.Context, *client.Client) (stream, decoder, error), emit func(llm.Delta),
) (decoder, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a := &attempt{http: m.http, idle: &idleClock{limit: m.opts.IdleTimeout, cancel: cancel}, clean: m.clean}
	defer a.idle.stop()
	s, dec, err := open(ctx, m.client(a))
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	defer func() { _ = s.Close() }() // the body was read as far as we want it
	if err := m.receive(ctx, s, dec, a, emit); err != nil {
		return nil, err
	}
	return dec, nil
}

func (m *Model) client(a *attempt) *client.Client {
	config := client.DefaultConfig(m.opts.Key)
	config.BaseURL = m.opts.BaseURL
	config.HTTPClient = a
	config.EmptyMessagesLimit = ^uint(0) // silence is measured in time, by the idle clock
	return client.NewClientWithConfig(config)
}

// open sends the request and waits for the head of the answer.
func (m *Model) open(ctx context.Context, c *client.Client, req llm.Request) (stream, decoder, error) {
	if m.opts.API == APIResponses {
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
func (m *Model) receive(ctx context.Context, s stream, dec decoder, a *attempt, emit func(llm.Delta)) error {
	for events := 0; ; events++ {
		data, err := s.RecvRaw()
		if ctx.Err() != nil && (!dec.complete() || !errors.Is(context.Cause(ctx), errIdle)) {
			return context.Cause(ctx)
		}
		switch {
		case err != nil && dec.complete():
			return nil
		case errors.Is(err, io.EOF):
			return &cutError{}
		case err != nil && events > 0 && !errors.Is(err, errLineTooLong):
			return &cutError{err: err}
		case err != nil:
			return err
		case len(data) == 0: // a sign of life
			continue
		}
		if err := dec.event(data, emit); err != nil {
			return err
		}
		if dec.complete() {
			a.idle.shorten(time.Second) // usage may follow; a server that never hangs up must not hold us
		}
	}
}

// charge puts a price to what was used.
func (m *Model) charge(r llm.Reply) llm.Reply {
	counted := r.Usage.InputTokens+r.Usage.OutputTokens > 0
	r.Usage.Calls = 1
	switch {
	case m.opts.Price != nil:
		r.Usage.USD = m.opts.Price.Cost(r.Usage)
		r.Usage.Unpriced = !counted && *m.opts.Price != llm.Price{}
	case r.Usage.USD > 0: // the server told what it cost
	case counted:
		r.Usage = llm.Charge(m.opts.Model, r.Usage)
	default:
		r.Usage.Unpriced = true
	}
	return r
}

// owner marks what only this model of this server understands.
func (m *Model) owner() string { return m.host + " " + string(m.opts.API) + " " + m.opts.Model }
