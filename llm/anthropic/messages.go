package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"clank/llm"
	"clank/llm/transport"
)

// MessageRequest is one call in the vendor's own terms. Roles of Messages alternate and begin and end with the user.
type MessageRequest struct {
	System    string
	Messages  []Message
	Tools     []Tool
	Betas     []string // values of the header anthropic-beta
	MaxTokens int      // 0: 32,000, or what the model allows
	EndUser   string   // hashed id of the person served; may be empty
	NoCalls   bool     // an answer in words is wanted; models that nobody knows are not told so

	// Stable are indexes of up to two messages of the user: the conversation up to and with them will be sent again
	// as it is, so it is worth caching. Instructions and tools always are.
	Stable []int
}

// MessageResponse is what the model said, block by block.
type MessageResponse struct {
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

// Ask asks the model and blocks until the whole answer is there, calling onDelta (which may be nil) as llm.Model
// does. Errors are those of llm.Model. Only failures before the first block of an answer are tried again, so nothing
// is delivered twice. An answer that the vendor paused is continued.
func (m *Model) Ask(ctx context.Context, q MessageRequest, onDelta func(llm.Delta)) (MessageResponse, error) {
	emit := transport.Deltas(ctx, onDelta)
	var whole MessageResponse
	for pauses := 0; ; pauses++ {
		body, err := m.body(q)
		if err != nil {
			return MessageResponse{}, err
		}
		start := time.Now()
		part, err := transport.CallWithRetry(ctx, m.RetryPolicy, m.explain,
			func(ctx context.Context) (partialResponse, error) {
				return m.once(ctx, body, q.Betas, emit)
			})
		if err != nil {
			return MessageResponse{}, err
		}
		m.LogAnswer(start, string(part.Stop), part.Usage)
		whole.Blocks = append(whole.Blocks, part.Blocks...)
		whole.Stop, whole.Why, whole.Usage = part.Stop, part.Why, whole.Usage.Add(part.Usage)
		if !part.paused || pauses == maxPauses || len(part.Blocks) == 0 {
			return whole, nil
		}
		q.Messages = append(slices.Clip(q.Messages), Message{Role: RoleAssistant, Content: ReplayContent(part.Blocks)})
	}
}

// partialResponse is an [MessageResponse] that may be only a part.
type partialResponse struct {
	MessageResponse
	paused bool
}

// once asks one time. Its errors are for explain.
func (m *Model) once(ctx context.Context, body []byte, betas []string, emit func(llm.Delta)) (partialResponse, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return partialResponse{}, context.Cause(ctx)
	}
	a := m.NewAttempt(cancel)
	defer a.StopTimer()
	req, err := m.newRequest(ctx, body, betas)
	if err != nil {
		return partialResponse{}, err
	}
	resp, err := a.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return partialResponse{}, err
	}
	defer func() { _ = resp.Body.Close() }() // the body was read as far as we want it
	dec := newDecoder()
	if err := receiveEvents(ctx, transport.ReadEvents("text/event-stream", resp.Body), dec, emit); err != nil {
		return partialResponse{}, err
	}
	got := dec.answer()
	got.Usage = transport.WithPrice(m.Model, got.Usage)
	return got, nil
}

// receiveEvents reads events until the answer is complete. What happens to the
// connection after that no longer matters.
func receiveEvents(ctx context.Context, next func() ([]byte, error), dec *messageDecoder, emit func(llm.Delta)) error {
	for begun := false; ; begun = true {
		data, err := next()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if !errors.Is(err, transport.ErrTooLong) && (begun || errors.Is(err, io.EOF)) {
				err = &transport.TruncatedError{Err: err}
			}
			return err
		}
		if len(bytes.TrimSpace(data)) == 0 { // some gateways keep a connection alive so
			continue
		}
		if err := dec.event(data, emit); err != nil {
			return err
		}
		if dec.complete {
			return nil
		}
	}
}
