package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"clank/llm"
	"clank/sessions"
)

// Limits of a question, which are those of a menu in Discord.
const (
	maxChoices      = 25
	maxChoiceLength = 100
	maxQuestion     = 1000
)

var askPersonTool = llm.Tool{
	Name: "ask_person",
	Description: "Ask the person what you must know to go on, such as which of several things they mean, and end your reply with that. " +
		"They pick one of the choices, or answer in their own words. Do not ask what you can find out, or can sensibly assume.",
	Schema: json.RawMessage(fmt.Sprintf(`{
		"type": "object",
		"properties": {
			"question": {"type": "string", "maxLength": %d},
			"choices": {"type": "array", "items": {"type": "string", "maxLength": %d}, "maxItems": %d,
				"description": "What the answer can be; leave out if that is open"}
		},
		"required": ["question"],
		"additionalProperties": false
	}`, maxQuestion, maxChoiceLength, maxChoices)),
}

// personQuestion is the input of the tool.
type personQuestion struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

// askTool returns the tool by which the model asks the person something.
func (r *replyRun) askTool() sessions.Tool {
	call := func(_ context.Context, _ sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
		var q personQuestion
		if err := decodeStrict(input, &q); err != nil {
			return "", nil, err
		}
		q.Question = strings.TrimSpace(q.Question)
		var choices []string
		for _, c := range q.Choices {
			c = strings.Join(strings.Fields(c), " ")
			if c != "" && !slices.Contains(choices, c) {
				choices = append(choices, c)
			}
		}
		q.Choices = choices
		long := func(c string) bool { return utf8.RuneCountInString(c) > maxChoiceLength }
		switch {
		case r.question != nil:
			return "", nil, errors.New("a reply can ask one question")
		case q.Question == "" || utf8.RuneCountInString(q.Question) > maxQuestion:
			return "", nil, fmt.Errorf("question needs 1 to %d characters", maxQuestion)
		case len(choices) > maxChoices || slices.ContainsFunc(choices, long):
			return "", nil, fmt.Errorf("there can be %d choices of %d characters each", maxChoices, maxChoiceLength)
		}
		r.question = &q
		return "Asked.", nil, nil
	}
	return sessions.Tool{Tool: askPersonTool, Call: call}
}

// answerAsking makes the question the end of the answer.
func (r *replyRun) answerAsking(got llm.Reply) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := strings.TrimSpace(got.Text())
	if r.turn.OnText != nil {
		text = "" // it is told already
	}
	if !strings.HasSuffix(text, r.question.Question) {
		text = strings.TrimSpace(text + "\n\n" + r.question.Question)
	}
	a := r.complete(text)
	a.Asks, a.Choices = true, r.question.Choices
	return a
}
