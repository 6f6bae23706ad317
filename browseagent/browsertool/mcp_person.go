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
	// silentCall is how long a call may take whose client hears nothing meanwhile: the official libraries give one up
	// after a minute.
	silentCall = 50 * time.Second
	// waitingBeat is how often a client that wants to hear of progress is told that somebody is waited for.
	waitingBeat = 10 * time.Second
)

// ClientPerson is the person at a client, for the time of one call. Its methods are safe for concurrent use.
type ClientPerson struct {
	session  *mcp.ServerSession
	progress *progressReporter
	begun    time.Time
	silent   time.Duration // 0: the client is told that we wait
}

// person returns whoever is at the client of a call. end must be called.
func (s *MCPServer) person(ctx context.Context, req *mcp.CallToolRequest) (p *ClientPerson, end func()) {
	p = &ClientPerson{session: req.Session, progress: startProgress(ctx, req), begun: time.Now()}
	if req.Params.GetProgressToken() == nil {
		p.silent = cmp.Or(s.SilentCall, silentCall)
	}
	return p, p.progress.end
}

// ErrNobodyAnswered says that the client would not have waited any longer.
var ErrNobodyAnswered = errors.New("nobody answered in time")

// CanAnswer reports whether the client has said that it can ask its person.
func (p *ClientPerson) CanAnswer() bool {
	hello := p.session.InitializeParams()
	return hello != nil && hello.Capabilities != nil && hello.Capabilities.Elicitation != nil
}

// approvalSchema is the form that a client shows: one box to tick.
var approvalSchema = json.RawMessage(`{"type":"object","required":["allow"],` +
	`"properties":{"allow":{"type":"boolean","title":"Allow it","default":false}}}`)

// Ask asks whether something may be done, by elicitation of the protocol. text says it in our words, detail in those of
// a page. When ctx ends the client is told that the question is over. The error is [ErrNobodyAnswered], or says that
// the client cannot ask its person, or is gone.
func (p *ClientPerson) Ask(ctx context.Context, text, detail string) (allowed bool, err error) {
	message := untrusted.CleanLine(text, maxProgressLine) + "?"
	if detail != "" {
		message += "\nThe page calls it: “" + untrusted.CleanLine(detail, maxProgressLine) + "”"
	}
	given, err := p.elicit(ctx, text, message, approvalSchema)
	allow, _ := given["allow"].(bool)
	return allow, err
}

// AskWords asks what a model wants to know, as [ClientPerson.Ask] does. Without choices any words do. The answer is empty
// if the person gives none.
func (p *ClientPerson) AskWords(ctx context.Context, question string, choices []string) (answer string, err error) {
	field := map[string]any{"type": "string", "title": "Your answer"}
	if len(choices) > 0 {
		field["enum"] = choices
	}
	schema := map[string]any{"type": "object", "required": []string{"answer"}, "properties": map[string]any{"answer": field}}
	message := "The model asks: " + untrusted.CleanLine(question, maxProgressLine)
	given, err := p.elicit(ctx, "a question of the model", message, schema)
	answer, _ = given["answer"].(string)
	return answer, err
}

// elicit asks with a form, and returns what was filled in, if it was. about is what a waiting client is told.
func (p *ClientPerson) elicit(ctx context.Context, about, message string, schema any) (given map[string]any, err error) {
	if !p.CanAnswer() {
		return nil, errors.New("the client cannot ask its person")
	}
	ctx, done := p.keepWaiting(ctx, about)
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

// Await keeps the client waiting while others are asked, until ctx ends or [ErrNobodyAnswered].
func (p *ClientPerson) Await(ctx context.Context, text string) error {
	ctx, done := p.keepWaiting(ctx, text)
	defer done()
	<-ctx.Done()
	return context.Cause(ctx)
}

// keepWaiting tells the client again and again that somebody is waited for. The context of one that does not hear it
// ends before the client gives its call up; one that has waited for longer already waits as long as it likes.
func (p *ClientPerson) keepWaiting(ctx context.Context, text string) (_ context.Context, done func()) {
	end := p.begun.Add(p.silent)
	if p.silent > 0 && time.Now().Before(end) {
		late := fmt.Errorf("%w: the program that asks would give up after a minute", ErrNobodyAnswered)
		return context.WithDeadlineCause(ctx, end, late)
	}
	ctx, cancel := context.WithCancel(ctx)
	beat := time.NewTicker(waitingBeat)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for p.progress.say("waits for a person: " + text); ; p.progress.say("still waits for a person: " + text) {
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
		<-told
	}
}
