//go:build !browseronly

package main

import (
	"context"
	"errors"
	"sync"

	"clank/browseagent/browsertool"
	"clank/sessions/approval"
)

// clientPersonKey is the context key of the MCP client's user for whom a task runs.
type clientPersonKey struct{}

func clientPersonOf(ctx context.Context) *browsertool.ClientPerson {
	p, _ := ctx.Value(clientPersonKey{}).(*browsertool.ClientPerson)
	return p
}

// clientQuestions asks the user of an MCP client in parallel to other people. The first answer counts, and the
// question is withdrawn from the others.
type clientQuestions struct {
	begin func(q approval.Question) (withdraw context.CancelFunc)

	asking sync.WaitGroup
	mu     sync.Mutex
	open   map[string]context.CancelFunc // by id
}

func newClientQuestions(ctx context.Context, person *browsertool.ClientPerson, answer answerFunc) *clientQuestions {
	c := &clientQuestions{open: make(map[string]context.CancelFunc)}
	c.begin = func(q approval.Question) context.CancelFunc {
		asking, withdraw := context.WithCancel(ctx)
		c.asking.Go(func() { askAtClient(asking, person, q, answer) })
		return withdraw
	}
	return c
}

// askAtClient asks the person and passes on the answer. A late answer is ignored.
func askAtClient(ctx context.Context, person *browsertool.ClientPerson, q approval.Question, answer answerFunc) {
	a := approval.Answer{By: "the person at the client"}
	var err error
	if q.Class == approval.ClassAnswer {
		a.Text, err = person.AskWords(ctx, q.Detail, q.Choices)
		a.Allowed = a.Text != ""
	} else {
		a.Allowed, err = person.Ask(ctx, q.Text, q.Detail)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, browsertool.ErrNobodyAnswered) {
		err = person.Await(ctx, q.Text)
	}
	if err != nil {
		a = approval.Answer{Reason: err.Error()}
	}
	if ctx.Err() == nil {
		_ = answer(ctx, q.ID, a) // an error means that the question is answered already, or will time out
	}
}

// HandleEvent implements [questioner].
func (c *clientQuestions) HandleEvent(ev approval.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	withdraw, known := c.open[ev.Question.ID]
	switch {
	case ev.Resolved && known:
		withdraw()
		delete(c.open, ev.Question.ID)
	case !ev.Resolved && !known:
		c.open[ev.Question.ID] = c.begin(ev.Question)
	}
}

// Close implements [questioner]: it withdraws open questions.
func (c *clientQuestions) Close() error {
	c.mu.Lock()
	for _, withdraw := range c.open {
		withdraw()
	}
	c.mu.Unlock()
	c.asking.Wait()
	return nil
}
