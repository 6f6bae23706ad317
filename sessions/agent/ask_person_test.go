package agent_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/agent"
)

func TestAQuestionFitsIntoAMenu(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	var many []string
	for n := range agent.MaxChoices + 1 {
		many = append(many, strconv.Itoa(n))
	}
	for name, tt := range map[string]struct {
		question string
		choices  []string
		want     []string
		fails    string
	}{
		"open":               {" Which?\n", nil, nil, ""},
		"choices":            {"Which?", []string{"red\n lamp", "", "red lamp", "blue"}, []string{"red lamp", "blue"}, ""},
		"as long as can be":  {long(1000), []string{long(100)}, []string{long(100)}, ""},
		"as many as can be":  {"Which?", many[1:], many[1:], ""},
		"no question":        {" ", nil, nil, "1 to 1000 characters"},
		"too long":           {long(1001), nil, nil, "1 to 1000 characters"},
		"too many":           {"Which?", many, many, "25 choices of 100 characters"},
		"too long to choose": {"Which?", []string{"a", long(101)}, []string{"a", long(101)}, "25 choices of 100 characters"},
	} {
		q := agent.PersonQuestion{Question: tt.question, Choices: tt.choices}
		check.Outcome(t, name, q.Clean(), tt.fails)
		check.Equal(t, name+": question", q.Question, strings.TrimSpace(tt.question))
		check.Diff(t, name+": choices", q.Choices, tt.want)
	}
}

func TestTheModelIsToldWhatThePersonAnswered(t *testing.T) {
	const on = " Go on as you think best, or end with what you have found and the question."
	for name, tt := range map[string]struct {
		question string
		nobody   bool
		err      error
		want     string
	}{
		"an answer":   {"Which?", false, nil, "The person answers: red"},
		"no answer":   {"Which?", false, errors.New("nobody answered"), "Nobody answered." + on},
		"nobody":      {"Which?", true, nil, "Nobody can be asked here." + on},
		"no question": {"", false, nil, "Question needs 1 to 1000 characters." + on},
	} {
		asked := 0
		ask := func(context.Context, sessions.Session, sessions.Task, agent.PersonQuestion) (string, error) {
			asked++
			return "red", tt.err
		}
		if tt.nobody {
			ask = nil
		}
		text, answered := agent.AskPerson(t.Context(), ask, sessions.Session{}, sessions.Task{},
			agent.PersonQuestion{Question: tt.question})
		check.Equal(t, name, text, tt.want)
		check.Equal(t, name+": answered", answered, name == "an answer")
		check.Equal(t, name+": asked", asked > 0, tt.question != "" && !tt.nobody)
	}
}
