package browsertool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/internal/untrusted"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// silentCall is how long a call may take if the client receives no progress: the official client libraries time
	// out after a minute.
	silentCall = 50 * time.Second
	// waitingInterval is how often a client that receives progress is told that the call is waiting for a person.
	waitingInterval = 10 * time.Second
)

// ClientPerson is the person who uses the client, during one call. Its methods are safe for concurrent use.
type ClientPerson struct {
	session  *mcp.ServerSession
	progress *progressReporter
	begun    time.Time
	silent   time.Duration // 0: the client receives progress
}

// person returns the person at the client that made a call. The caller must call end.
func (s *MCPServer) person(ctx context.Context, req *mcp.CallToolRequest) (p *ClientPerson, end func()) {
	p = &ClientPerson{session: req.Session, progress: startProgress(ctx, req), begun: time.Now()}
	if req.Params.GetProgressToken() == nil {
		p.silent = cmp.Or(s.SilentCall, silentCall)
	}
	return p, p.progress.end
}

// ErrNobodyAnswered says that the client would not have waited any longer.
var ErrNobodyAnswered = errors.New("nobody answered in time")

// CanAnswer reports whether the client supports elicitation, which asks its person.
func (p *ClientPerson) CanAnswer() bool {
	hello := p.session.InitializeParams()
	return hello != nil && hello.Capabilities != nil && hello.Capabilities.Elicitation != nil
}

// approvalSchema is the form that a client shows: one checkbox.
var approvalSchema = json.RawMessage(`{"type":"object","required":["allow"],` +
	`"properties":{"allow":{"type":"boolean","title":"Allow it","default":false}}}`)

// Ask asks for approval by MCP elicitation. text is in our words, detail quotes a page. When ctx ends, the client is
// told that the question is withdrawn. The error is [ErrNobodyAnswered], or says that the client cannot ask its
// person or has disconnected.
func (p *ClientPerson) Ask(ctx context.Context, text, detail string) (allowed bool, err error) {
	message := untrusted.CleanLine(text, maxProgressLine) + "?"
	if detail != "" {
		message += "\nThe page calls it: “" + untrusted.CleanLine(detail, maxProgressLine) + "”"
	}
	given, err := p.elicit(ctx, text, message, approvalSchema)
	allow, _ := given["allow"].(bool)
	return allow, err
}

// AskWords asks a model's question in the same way. Without choices, any text is a valid answer. The answer is empty
// if the person gives none.
func (p *ClientPerson) AskWords(ctx context.Context, question string, choices []string) (answer string, err error) {
	field := map[string]any{"type": "string", "title": "Your answer"}
	if len(choices) > 0 {
		field["enum"] = choices
	}
	schema := map[string]any{
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{"answer": field},
	}
	message := "The model asks: " + untrusted.CleanLine(question, maxProgressLine)
	given, err := p.elicit(ctx, "a question of the model", message, schema)
	answer, _ = given["answer"].(string)
	return answer, err
}

// elicit asks with a form and returns its values, if it was filled in. about is the progress message while the client
// waits.
func (p *ClientPerson) elicit(ctx context.Context, about, message string,
	schema any,
) (given map[string]any, err error) {
	if !p.CanAnswer() {
		return nil, errors.New("the client cannot ask its person")
	}
	ctx, done := p.keepWaiting(ctx, about, false)
	defer done()
	res, err := p.session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: schema})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("ask the person at the client: %w", err)
	case res.Action != "accept":
		return map[string]any{}, nil
	}
	return res.Content, nil
}

// Await keeps the client waiting while others are asked, until ctx ends or [ErrNobodyAnswered]. A client that can
// answer was asked before, and told then what the call waits for.
func (p *ClientPerson) Await(ctx context.Context, text string) error {
	ctx, done := p.keepWaiting(ctx, text, p.CanAnswer())
	defer done()
	<-ctx.Done()
	return context.Cause(ctx)
}

// keepWaiting repeatedly tells the client that the call waits for a person, at once unless it was told. For a client
// without progress, the context ends before the client would time out; if that time has already passed, the client
// evidently does not time out, and there is no limit.
func (p *ClientPerson) keepWaiting(ctx context.Context, text string, told bool) (_ context.Context, done func()) {
	end := p.begun.Add(p.silent)
	if p.silent > 0 && time.Now().Before(end) {
		late := fmt.Errorf("%w: the program that asks would give up after a minute", ErrNobodyAnswered)
		return context.WithDeadlineCause(ctx, end, late)
	}
	ctx, cancel := context.WithCancel(ctx)
	beat := time.NewTicker(waitingInterval)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if !told {
			p.progress.say("waits for a person: " + text)
		}
		for ; ; p.progress.say("still waits for a person: " + text) {
			select {
			case <-beat.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		beat.Stop()
		cancel()
		<-ended
	}
}
