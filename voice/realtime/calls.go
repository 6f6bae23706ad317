package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	longestArguments = 24000 // runes
	rememberedCalls  = 256
	maxRunning       = 8
)

// call is one call of a tool.
type call struct {
	id       string
	response string
	answered bool
	quiet    bool // the model is not asked what to say about it
}

var errTooLong = errors.New("the tool took too long")

// called runs a tool that the model calls. The same call may be told of more than once. What runs outlives the connection.
//
// it runs under Run's context, not under the connection's
func (t *talk) called(ctx context.Context, response string, i item) {
	t.history.add(i)
	if known := t.history.same(i); known != nil && i.Name == "" {
		i.Name = known.Name // older servers leave it out where the arguments are
	}
	if i.CallID == "" || i.Name == "" || t.calls[i.CallID] != nil {
		return
	}
	if len(t.order) == rememberedCalls {
		delete(t.calls, t.order[0])
		t.order = t.order[1:]
	}
	run, cancel := t.under()
	c := &call{id: i.CallID, response: response}
	t.calls[c.id], t.order = c, append(t.order, c.id)
	if response != "" && response == t.dead {
		cancel(nil)
		c.quiet = true
		t.answered(ctx, c, problem("it was cancelled", true))
		return
	}
	if t.s.busy() {
		cancel(nil)
		t.answered(ctx, c, problem("too many tools run already; wait for their results", false))
		return
	}
	var arguments string
	if i.Arguments != nil {
		arguments = *i.Arguments
	}
	ended := t.s.runs(c.id, cancel)
	t.running.Go(func() {
		defer ended()
		out := t.s.run(run, i.Name, arguments)
		t.s.do(func(ctx context.Context, t *talk) { t.answered(ctx, c, out) })
	})
}

// busy reports whether no more tools may run.
func (s *Session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tools) >= maxRunning
}

// run runs a tool and returns what the model is told.
func (s *Session) run(ctx context.Context, name, arguments string) string {
	switch {
	case s.Call == nil:
		return problem("there is no such tool", false)
	case len([]rune(arguments)) > longestArguments:
		return problem("the arguments are too long", false)
	case arguments == "":
		arguments = "{}"
	case !json.Valid([]byte(arguments)):
		return problem("the arguments are not JSON", false)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, positive(s.CallTimeout, 10*time.Minute), errTooLong)
	defer cancel()
	out := s.Call(ctx, name, json.RawMessage(arguments))
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		return problem(cause.Error(), !errors.Is(cause, errTooLong))
	}
	return out
}

// problem is what the model is told of a call that gave nothing. One that was cancelled is not to be tried again.
func problem(message string, cancelled bool) string {
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

// answered gives the model what a tool gave, and asks for a response when all calls of the same one have been answered.
func (t *talk) answered(ctx context.Context, c *call, out string) {
	c.answered = true
	t.create(ctx, item{Type: "function_call_output", CallID: c.id, Output: &out})
	if c.quiet {
		return
	}
	for _, other := range t.calls {
		if other.response == c.response && !other.answered {
			return
		}
	}
	t.ask(ctx)
}

// cancelCalls has the model not asked about what ran until now.
func (t *talk) cancelCalls() {
	t.owed = false
	for _, c := range t.calls {
		c.quiet = true
	}
}
