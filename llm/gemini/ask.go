package gemini

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/genai"

	"clank/llm"
)

// Causes that end a call from inside.
var (
	errTimeout = errors.New("the call took too long")
	errIdle    = errors.New("the answer stalled")
)

// Answer is what a model said, in the vendor's words.
type Answer struct {
	Content *genai.Content // role "model", to be sent back as it is; without parts if nothing was said
	Finish  genai.FinishReason
	Note    string // what the vendor says about Finish; may be empty
	Blocked genai.BlockedReason
	Usage   llm.Usage
}

// Ask puts a conversation to the model and blocks until the whole answer is
// there, calling onDelta (which may be nil) with each piece as it arrives.
// Contents begin with one of role "user"; signatures missing for calls of other
// models are filled in on the way. Neither contents nor config is changed.
//
// When ctx ends it returns at once with [context.Cause] of ctx. Other failures
// are an [*llm.Error]. Only failures before the first event of an answer are
// tried again, so nothing is delivered twice.
func (m *Model) Ask(ctx context.Context, contents []*genai.Content, config genai.GenerateContentConfig, onDelta func(llm.Delta)) (Answer, error) {
	callCtx, cancel := context.WithTimeoutCause(ctx, m.opts.Timeout, errTimeout)
	defer cancel()
	emit := func(d llm.Delta) {
		if onDelta != nil && ctx.Err() == nil && (d.Text != "" || d.Reasoning != "") {
			onDelta(d)
		}
	}
	start := time.Now()
	for try := 1; ; try++ {
		answer, err := m.once(callCtx, contents, config, emit)
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
		if err == nil {
			m.log.Debug("model answered", "model", m.Name(), "took", time.Since(start), "finish", string(answer.Finish),
				"input_tokens", answer.Usage.InputTokens, "output_tokens", answer.Usage.OutputTokens)
			return answer, nil
		}
		told, transient := m.explain(err)
		if !transient || try == maxTries {
			return Answer{}, told
		}
		wait, ok := m.waitFor(callCtx, try, told)
		if !ok {
			return Answer{}, told
		}
		m.log.Info("model call failed, trying again", "model", m.Name(), "try", try, "wait", wait,
			"kind", told.Kind, "status", told.Status, "reason", told.Message)
		if m.opts.OnRetry != nil {
			m.opts.OnRetry(Retry{Try: try, Wait: wait, Err: told})
		}
		if !sleep(callCtx, wait) {
			if ctx.Err() != nil {
				return Answer{}, context.Cause(ctx)
			}
			return Answer{}, told
		}
		if err := llm.Retry(callCtx, told); err != nil {
			return Answer{}, err
		}
	}
}

// once asks one time. Its errors are for explain.
func (m *Model) once(ctx context.Context, contents []*genai.Content, config genai.GenerateContentConfig, emit func(llm.Delta)) (Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	a := &attempt{http: m.http, idle: &idleClock{limit: m.opts.IdleTimeout, cancel: cancel}, clean: m.clean, anonymous: m.opts.Key == "", pictures: &pictures{}}
	defer a.idle.stop()
	client, err := m.client(ctx, a)
	if err != nil {
		return Answer{}, err
	}
	c := &collector{}
	said := a.pictures.without(m.signed(contents))
	for event, err := range client.Models.GenerateContentStream(ctx, m.opts.Model, said, m.configured(config)) {
		if ctx.Err() != nil && (!c.complete() || !errors.Is(context.Cause(ctx), errIdle)) {
			return Answer{}, context.Cause(ctx)
		}
		if err != nil {
			return Answer{}, a.why(err)
		}
		c.add(event, emit)
		if c.complete() {
			a.idle.shorten(time.Second) // usage may follow; a server that never hangs up must not hold us
		}
	}
	switch {
	case ctx.Err() != nil && (!c.complete() || !errors.Is(context.Cause(ctx), errIdle)):
		return Answer{}, context.Cause(ctx)
	case c.complete():
		return m.charge(c.answer()), nil
	case a.body != nil && a.body.err != nil:
		return Answer{}, a.body.err
	}
	return Answer{}, &cutError{}
}

// keyless stands where the client library demands a key; it is never sent.
const keyless = "none"

func (m *Model) client(ctx context.Context, a *attempt) (*genai.Client, error) {
	key := m.opts.Key
	if key == "" {
		key = keyless
	}
	return genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: a.client(),
		HTTPOptions: genai.HTTPOptions{BaseURL: m.opts.BaseURL, APIVersion: "v1beta"},
	})
}

// configured adds what is the same for every call. The library would ask again
// on its own; we do not let it, so that each call is seen and counted.
func (m *Model) configured(config genai.GenerateContentConfig) *genai.GenerateContentConfig {
	again := false
	config.AutomaticContinuation = &again
	config.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: fillEmptyText}
	if m.opts.Level != "" || m.opts.Thoughts {
		config.ThinkingConfig = &genai.ThinkingConfig{
			IncludeThoughts: m.opts.Thoughts, ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(m.opts.Level)),
		}
	}
	return &config
}

// charge puts a price to what was used.
func (m *Model) charge(a Answer) Answer {
	counted := a.Usage.InputTokens+a.Usage.OutputTokens > 0
	a.Usage.Calls = 1
	switch {
	case m.opts.Price != nil:
		a.Usage.USD = m.opts.Price.Cost(a.Usage)
		a.Usage.Unpriced = !counted && *m.opts.Price != llm.Price{}
	case counted:
		a.Usage = llm.Charge(m.opts.Model, a.Usage)
	default:
		a.Usage.Unpriced = true
	}
	return a
}
