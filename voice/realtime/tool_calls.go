package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"clank/sessions"
)

const (
	maxArguments       = 24000 // runes
	maxRememberedCalls = 256
	maxRunning         = 8
)

type toolCall struct {
	id       string
	response string
	by       []string // the people who asked for it
	answered bool
	quiet    bool // the model is not asked what to say about it
}

var errTooLong = errors.New("the tool took too long")

// handleToolCall runs a tool that the model calls. The same call may be reported more than once. The tool may outlive
// the connection.
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
	run, cancel := context.WithCancelCause(t.runContext)
	c := &toolCall{id: i.CallID, response: response, by: t.askersOf(response)}
	t.calls[c.id], t.order = c, append(t.order, c.id)
	if response != "" && response == t.cancelledID {
		cancel(nil)
		c.quiet = true
		t.handleToolResult(ctx, c, toolResult{Error: "it was cancelled", Cancelled: true})
		return
	}
	if t.session.busy() {
		cancel(nil)
		t.handleToolResult(ctx, c, toolResult{Error: "too many tools run already; wait for their results"})
		return
	}
	var arguments string
	if i.Arguments != nil {
		arguments = *i.Arguments
	}
	ended := t.session.addTool(c.id, c.by, cancel)
	t.running.Go(func() {
		defer ended()
		out := t.session.runTool(run, c.by, i.Name, arguments)
		t.session.enqueue(func(ctx context.Context, t *conversation) { t.handleToolResult(ctx, c, out) })
	})
}

// busy reports whether the limit of running tools is reached.
func (s *Session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tools) >= maxRunning
}

// toolResult is what the model gets as the result of a call. A cancelled one is not to be tried again.
type toolResult struct {
	OK        bool   `json:"ok"`
	Result    string `json:"result,omitempty"`
	Error     string `json:"error,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	For       string `json:"for,omitempty"` // the name of the person it was done for

	pictures pictures
}

// runTool runs a tool on behalf of the people who asked for it.
func (s *Session) runTool(ctx context.Context, by []string, name, arguments string) toolResult {
	i := slices.IndexFunc(s.Tools, func(t sessions.Tool) bool { return t.Name == name })
	arguments = cmp.Or(arguments, "{}")
	switch {
	case i < 0:
		return toolResult{Error: "there is no tool " + name}
	case len([]rune(arguments)) > maxArguments:
		return toolResult{Error: "the arguments are too long"}
	case !json.Valid([]byte(arguments)):
		return toolResult{Error: "the arguments are not JSON"}
	}
	asker, err := s.on.Asker(ctx, by)
	if err != nil {
		return toolResult{Error: err.Error()}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(max(0, s.CallTimeout), 10*time.Minute), errTooLong)
	defer cancel()
	text, images, err := s.Tools[i].Call(ctx, asker, json.RawMessage(arguments))
	switch {
	case ctx.Err() != nil:
		cause := context.Cause(ctx)
		return toolResult{Error: cause.Error(), Cancelled: !errors.Is(cause, errTooLong)}
	case err != nil:
		return toolResult{Error: err.Error(), For: asker.UserName}
	}
	r := toolResult{OK: true, Result: text, For: asker.UserName}
	r.pictures = pictures{tool: name, asker: asker, images: images}
	if len(images) > 0 && s.blind.Load() {
		r.Result = strings.TrimSpace(text + "\n\n" + s.describe(ctx, r.pictures))
		r.pictures.images = nil
	}
	return r
}

// handleToolResult gives the model what a tool gave, and asks for a response when all calls of the same one have been
// answered.
func (t *conversation) handleToolResult(ctx context.Context, c *toolCall, r toolResult) {
	c.answered = true
	data, _ := json.Marshal(r) // strings always marshal
	out := string(data)
	t.addItem(ctx, item{Type: "function_call_output", CallID: c.id, Output: &out})
	if c.quiet {
		return
	}
	t.offerPictures(ctx, r.pictures)
	t.pending = union(t.pending, c.by)
	for _, other := range t.calls {
		if other.response == c.response && !other.answered {
			return
		}
	}
	t.requestResponse(ctx)
}

// cancelCalls prevents responses to the running calls that which selects.
func (t *conversation) cancelCalls(which func(by []string) bool) {
	if which(orUnknown(t.pending)) {
		t.requestPending = false
	}
	for _, c := range t.calls {
		c.quiet = c.quiet || which(c.by)
	}
}
