package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

var askPersonTool = llm.Tool{
	Name: agent.ToolAskPerson,
	Description: "Ask the person what you must know to go on, such as which of several things they mean, and end your " +
		"reply with that. They pick one of the choices, or answer in their own words. Do not ask what you can find out, or " +
		"can sensibly assume.",
	Schema: json.RawMessage(fmt.Sprintf(`{
		"type": "object",
		"properties": {
			"question": {"type": "string", "maxLength": %d},
			"choices": {"type": "array", "items": {"type": "string", "maxLength": %d}, "maxItems": %d,
				"description": "What the answer can be; leave out if that is open"}
		},
		"required": ["question"],
		"additionalProperties": false
	}`, agent.MaxQuestion, agent.MaxChoiceLength, agent.MaxChoices)),
}

// askTool returns the tool with which the model asks the person a question.
func (r *replyRun) askTool() sessions.Tool {
	call := func(_ context.Context, _ sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
		var q agent.PersonQuestion
		if err := decodeStrict(input, &q); err != nil {
			return "", nil, err
		}
		if r.question != nil {
			return "", nil, errors.New("a reply can ask one question")
		}
		if err := q.Clean(); err != nil {
			return "", nil, err
		}
		r.question = &q
		return "Asked.", nil, nil
	}
	return sessions.Tool{Tool: askPersonTool, Call: call}
}

// answerAsking returns an answer that ends with the question.
func (r *replyRun) answerAsking(got llm.Reply) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := strings.TrimSpace(got.Text())
	if r.turn.OnText != nil {
		text = "" // it has been passed on already
	}
	if !strings.HasSuffix(text, r.question.Question) {
		text = strings.TrimSpace(text + "\n\n" + r.question.Question)
	}
	a := r.complete(text)
	a.Asks, a.Choices = true, r.question.Choices
	return a
}
