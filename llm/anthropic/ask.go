package anthropic

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"clank/llm"
	"clank/llm/wire"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

// Question is one call in the vendor's own terms. Roles of Messages alternate
// and begin and end with the user.
type Question struct {
	System    string
	Messages  []sdk.MessageParam
	Tools     []sdk.ToolUnionParam
	Betas     []string // values of the header anthropic-beta
	MaxTokens int      // 0: as the options say
	EndUser   string   // hashed id of the person served; may be empty
	NoCalls   bool     // an answer in words is wanted; models that nobody knows are not told so

	// Stable are indexes of up to two messages of the user: the conversation up
	// to and with them will be sent again as it is, so it is worth caching.
	// Instructions and tools always are.
	Stable []int
}

// Answer is what the model said, block by block.
type Answer struct {
	Blocks []Block
	Stop   llm.StopReason
	Why    string // what the vendor says about a refusal; may be empty
	Usage  llm.Usage
}

// Block is a piece of an answer. Raw is the whole of it, to be sent back
// unchanged; the other fields are read from it.
type Block struct {
	Type string
	Raw  json.RawMessage
	Text string   // of types text and thinking
	Tool *ToolUse // of type tool_use
}

// ToolUse is a call of a tool. Toolset names the family of a tool that the
// vendor defines as one of several; "" for others.
type ToolUse struct {
	Toolset string
	llm.ToolCall
}

// maxPauses bounds how often an answer that the vendor paused is continued.
const maxPauses = 3

// Ask asks the model and blocks until the whole answer is there, calling onDelta
// (which may be nil) as llm.Model does. Errors are those of llm.Model. Only
// failures before the first block of an answer are tried again, so nothing is
// delivered twice. An answer that the vendor paused is continued.
func (m *Model) Ask(ctx context.Context, q Question, onDelta func(llm.Delta)) (Answer, error) {
	emit := func(d llm.Delta) {
		if onDelta != nil && ctx.Err() == nil && (d.Text != "" || d.Reasoning != "") {
			onDelta(d)
		}
	}
	var whole Answer
	for pauses := 0; ; pauses++ {
		start := time.Now()
		part, err := wire.Call(ctx, m.patience, m.explain, func(ctx context.Context) (answer, error) { return m.once(ctx, q, emit) })
		if err != nil {
			return Answer{}, err
		}
		m.patience.Logger.Debug("model answered", "model", m.Name(), "took", time.Since(start), "stop", part.Stop,
			"input_tokens", part.Usage.InputTokens, "output_tokens", part.Usage.OutputTokens)
		whole.Blocks = append(whole.Blocks, part.Blocks...)
		whole.Stop, whole.Why, whole.Usage = part.Stop, part.Why, whole.Usage.Add(part.Usage)
		if !part.paused || pauses == maxPauses || len(part.Blocks) == 0 {
			return whole, nil
		}
		q.Messages = append(slices.Clip(q.Messages), sdk.NewAssistantMessage(Replay(part.Blocks)...))
	}
}

// answer is an [Answer] that may be only a part.
type answer struct {
	Answer
	paused bool
}

// once asks one time. Its errors are for explain.
func (m *Model) once(ctx context.Context, q Question, emit func(llm.Delta)) (answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	a := wire.NewAttempt(m.http, m.patience.Idle, cancel, m.clean)
	defer a.Stop()
	pictures := newPictures()
	service := sdk.NewMessageService(m.callOptions(&carrier{Attempt: a, pictures: pictures}, q)...)
	s := service.NewStreaming(ctx, m.params(q, pictures))
	dec := newDecoder()
	defer func() { _ = s.Close() }() // the body was read as far as we want it
	if err := receive(ctx, s, dec, emit); err != nil {
		return answer{}, err
	}
	got := dec.answer()
	got.Usage = wire.Charge(m.opts.Price, m.opts.Model, got.Usage)
	return got, nil
}

func (m *Model) callOptions(a *carrier, q Question) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(m.opts.BaseURL), option.WithHTTPClient(a), option.WithMaxRetries(0),
	}
	if m.opts.Key != "" {
		opts = append(opts, option.WithAPIKey(m.opts.Key))
	}
	for _, beta := range q.Betas {
		opts = append(opts, option.WithHeaderAdd("anthropic-beta", beta))
	}
	return opts
}

// receive reads events until the answer is complete. What happens to the
// connection after that no longer matters.
func receive(ctx context.Context, s *ssestream.Stream[sdk.MessageStreamEventUnion], dec *decoder, emit func(llm.Delta)) error {
	for events := 0; ; events++ {
		more := s.Next()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !more {
			return endOf(s.Err(), events, len(dec.blocks) == 0)
		}
		if err := dec.event([]byte(s.Current().RawJSON()), emit); err != nil {
			return err
		}
		if dec.complete {
			return nil
		}
	}
}

// endOf is why a stream ended before its answer did; empty says that nothing of
// the answer has come.
func endOf(err error, events int, empty bool) error {
	var (
		told   *sdk.Error
		syntax *json.SyntaxError
	)
	switch {
	case err == nil:
		return &wire.CutError{}
	case errors.As(err, &told):
		return &streamError{told: wire.ReadTold([]byte(told.RawJSON())), early: empty}
	case errors.As(err, &syntax), errors.Is(err, bufio.ErrTooLong):
		return &wire.MalformedError{Err: err}
	case events > 0:
		return &wire.CutError{Err: err}
	}
	return err
}
