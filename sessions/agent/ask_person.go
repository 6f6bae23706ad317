package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"clank/sessions"
)

// PersonAsker asks the person of a task a question for the model and returns their answer. Its error says why there
// is none. It may take minutes. ctx ends with the task.
type PersonAsker func(ctx context.Context, s sessions.Session, t sessions.Task,
	q PersonQuestion) (answer string, err error)

// The tool with which a model asks a question.
const (
	ToolAskPerson  = "ask_person"
	AskPersonAbout = "Ask the person what you must know to go on, such as which of several things they mean, and wait " +
		"for the answer. Do not ask what you can find out, or can sensibly assume, and never for a password."
	AskPersonChoices = "what the answer can be; leave out if that is open"
)

// Limits of a question: those of a select menu in Discord.
const (
	MaxChoices      = 25
	MaxChoiceLength = 100
	MaxQuestion     = 1000
)

// PersonQuestion is a model's question. The person picks one of Choices or answers in their own words.
type PersonQuestion struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

// Clean normalises the question and checks it. The error is for the model.
func (q *PersonQuestion) Clean() error {
	q.Question = strings.TrimSpace(q.Question)
	var choices []string
	for _, c := range q.Choices {
		c = strings.Join(strings.Fields(c), " ")
		if c != "" && !slices.Contains(choices, c) {
			choices = append(choices, c)
		}
	}
	q.Choices = choices
	long := func(c string) bool { return utf8.RuneCountInString(c) > MaxChoiceLength }
	switch {
	case q.Question == "" || utf8.RuneCountInString(q.Question) > MaxQuestion:
		return fmt.Errorf("question needs 1 to %d characters", MaxQuestion)
	case len(choices) > MaxChoices || slices.ContainsFunc(choices, long):
		return fmt.Errorf("there can be %d choices of %d characters each", MaxChoices, MaxChoiceLength)
	}
	return nil
}

var errNobodyToAsk = errors.New("nobody can be asked here")

// AskPerson asks the question and returns the text for the model.
func AskPerson(
	ctx context.Context, ask PersonAsker, s sessions.Session, t sessions.Task, q PersonQuestion,
) (text string, answered bool) {
	err := q.Clean()
	if err == nil && ask == nil {
		err = errNobodyToAsk
	}
	answer := ""
	if err == nil {
		answer, err = ask(ctx, s, t, q)
	}
	if err != nil {
		return Sentence(err.Error()) + " Go on as you think best, or end with what you have found and the question.", false
	}
	return "The person answers: " + answer, true
}
