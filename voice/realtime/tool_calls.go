package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	maxArguments       = 24000 // runes
	maxRememberedCalls = 256
	maxRunning         = 8
)

type toolCall struct {
	id       string
	response string
	answered bool
	quiet    bool // the model is not asked what to say about it
}

var errTooLong = errors.New("the tool took too long")

// handleToolCall runs a tool that the model calls. The same call may be told of more than once. What runs outlives the connection.
//
// it runs under Run's context, not under the connection's
func (t *conversation) handleToolCall(ctx context.Context, response string, i item) {
	t.history.add(i)
	if known := t.history.findSame(i); known != nil && i.Name == "" {
		i.Name = known.Name // older servers leave it out where the arguments are
	}
	if i.CallID == "" || i.Name == "" || t.calls[i.CallID] != nil {
		return
	}
	if len(t.order) == maxRememberedCalls {
		delete(t.calls, t.order[0])
		t.order = t.order[1:]
	}
	run, cancel := t.detachedContext()
	c := &toolCall{id: i.CallID, response: response}
	t.calls[c.id], t.order = c, append(t.order, c.id)
	if response != "" && response == t.cancelledID {
		cancel(nil)
		c.quiet = true
		t.handleToolResult(ctx, c, toolError("it was cancelled", true))
		return
	}
	if t.session.busy() {
		cancel(nil)
		t.handleToolResult(ctx, c, toolError("too many tools run already; wait for their results", false))
		return
	}
	var arguments string
	if i.Arguments != nil {
		arguments = *i.Arguments
	}
	ended := t.session.addTool(c.id, cancel)
	t.running.Go(func() {
		defer ended()
		out := t.session.runTool(run, i.Name, arguments)
		t.session.enqueue(func(ctx context.Context, t *conversation) { t.handleToolResult(ctx, c, out) })
	})
}

// busy reports whether no more tools may run.
func (s *Session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tools) >= maxRunning
}

// runTool runs a tool and returns what the model is told.
func (s *Session) runTool(ctx context.Context, name, arguments string) string {
	switch {
	case s.Call == nil:
		return toolError("there is no such tool", false)
	case len([]rune(arguments)) > maxArguments:
		return toolError("the arguments are too long", false)
	case arguments == "":
		arguments = "{}"
	case !json.Valid([]byte(arguments)):
		return toolError("the arguments are not JSON", false)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(max(0, s.CallTimeout), 10*time.Minute), errTooLong)
	defer cancel()
	out := s.Call(ctx, name, json.RawMessage(arguments))
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		return toolError(cause.Error(), !errors.Is(cause, errTooLong))
	}
	return out
}

// toolError returns what the model is told of a call without a result. A cancelled call is not to be tried
// again.
func toolError(message string, cancelled bool) string {
	type inner struct {
		Message string `json:"message"`
	}
	b, err := json.Marshal(struct {
		OK        bool  `json:"ok"`
		Cancelled bool  `json:"cancelled,omitempty"`
		Error     inner `json:"error"`
	}{Cancelled: cancelled, Error: inner{message}})
	if err != nil {
		return `{"ok":false}`
	}
	return string(b)
}

// handleToolResult gives the model what a tool gave, and asks for a response when all calls of the same one have been answered.
func (t *conversation) handleToolResult(ctx context.Context, c *toolCall, out string) {
	c.answered = true
	t.addItem(ctx, item{Type: "function_call_output", CallID: c.id, Output: &out})
	if c.quiet {
		return
	}
	for _, other := range t.calls {
		if other.response == c.response && !other.answered {
			return
		}
	}
	t.requestResponse(ctx)
}

// cancelCalls has the model not asked about what ran until now.
func (t *conversation) cancelCalls() {
	t.requestPending = false
	for _, c := range t.calls {
		c.quiet = true
	}
}
