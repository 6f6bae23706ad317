package plain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"clank/llm"
)

// ModelName is what [llm.Model.Name] returns.
const ModelName = "plain:steps"

// Options say what the model knows beyond its words.
type Options struct {
	Places map[string]string // what people call a place ("the demo shop") → its URL
	// Scripts returns the steps of the saved script called name, with the values
	// that were given ("search = desk, city = Rome"; may be empty) in their places.
	// Its error is shown to the person. Nil means that there are no scripts.
	Scripts func(name, values string) (instruction string, err error)
}

// Model is the built-in model. It is safe for concurrent use.
type Model struct {
	places  places
	scripts func(name, values string) (string, error)
}

var _ llm.Model = (*Model)(nil)

// New returns the model. The options are copied.
func New(o Options) *Model { return &Model{places: newPlaces(o.Places), scripts: o.Scripts} }

// Name implements [llm.Model].
func (m *Model) Name() string { return ModelName }

// Caps implements [llm.Model].
func (m *Model) Caps() llm.Caps { return llm.Caps{Tools: true, Literal: true} }

// Generate implements [llm.Model]. All it knows is in the conversation: it finds the newest instruction, sees which
// of its steps have been done, and calls the tool for the next one, or answers.
func (m *Model) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, context.Cause(ctx)
	}
	text, call, stop := m.next(readConversation(req).resume(m.places))
	if err := streamText(ctx, text, onDelta); err != nil {
		return llm.Reply{}, err
	}
	reply := llm.Reply{Message: llm.Message{Role: llm.RoleAssistant}, Stop: stop, Usage: llm.Usage{Calls: 1}}
	if text != "" {
		reply.Message.Parts = append(reply.Message.Parts, llm.Part{Text: text})
	}
	if call != nil {
		reply.Message.Parts = append(reply.Message.Parts, llm.Part{Call: call})
	}
	return reply, nil
}

// next decides what to say and which tool to call. No call means that this is the answer: stop says whether all was
// done, or could not be, or was not for want of tools.
func (m *Model) next(c conversation) (text string, call *llm.ToolCall, stop llm.StopReason) {
	var err error
	if c.instruction, err = m.script(c.instruction); err != nil {
		return err.Error(), nil, llm.StopRefused
	}
	steps, err := parseInstruction(c.instruction, m.places.on(c.hasPage()))
	if err != nil {
		return err.Error() + "\n\n" + m.help(), nil, llm.StopRefused
	}
	if len(steps) == 0 {
		return m.help(), nil, llm.StopRefused
	}
	c.checkResults(steps)
	done, page := c.replay()
	switch {
	case c.failed != nil:
		return finalAnswer(c, steps, done, ""), nil, llm.StopRefused
	case done >= len(steps):
		return finalAnswer(c, steps, done, ""), nil, llm.StopEnd
	case c.lastCall:
		return finalAnswer(c, steps, done, ""), nil, llm.StopLength
	}
	s := steps[done]
	if s.on.again {
		s.on = resolveAgain(s.on, c.rounds[:len(c.rounds)-1], m.places)
	}
	do := decideStep(s, page.forStep(done))
	if do.problem != "" {
		return finalAnswer(c, steps, done, do.problem), nil, llm.StopRefused
	}
	if do.purpose == "" {
		do.purpose = "step"
		text = fmt.Sprintf("Step %d of %d: %s", done+1, len(steps), s.source)
	}
	input, err := json.Marshal(do.input)
	if err != nil {
		return finalAnswer(c, steps, done, err.Error()), nil, llm.StopRefused
	}
	id := fmt.Sprintf("plain_%d_%s%d", c.newest+1, do.purpose, done)
	return text, &llm.ToolCall{ID: id, Name: do.tool, Input: input}, llm.StopTools
}

// help says with three examples what the model understands.
func (m *Model) help() string {
	place := "example.com"
	if names := m.places.names(); len(names) > 0 {
		place = names[0]
	}
	return "I follow written steps, one after the other. For example:\n" +
		"- open " + place + ", type \"lamp\" into Search, press Enter, read\n" +
		"- click \"Sign in\", then wait for \"Welcome\", then take a screenshot\n" +
		"- select \"Red\" in Colour, click the 2nd \"Add\", list the links\n" +
		"Put text that contains a comma into quotes. For freer requests, choose a language model in the settings."
}

// streamText hands out the text line by line, as long as ctx lasts.
func streamText(ctx context.Context, text string, onDelta func(llm.Delta)) error {
	for line := range strings.Lines(text) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if onDelta != nil {
			onDelta(llm.Delta{Text: line})
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
