package asking

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"clank/browsermgr/control/ask"
	"clank/browsertool/remote"
	"clank/consent"
	"clank/internal/terminal"
	"clank/sessions"
)

// Speaker is on whose behalf a model uses the tool "browser".
type Speaker struct {
	Origin  sessions.Origin
	Session string // in which an answer "for this session" holds; "" for none
	// Elicit asks the person at a program that speaks MCP; nil leaves it to the desk. The error says that nobody can be asked.
	Elicit func(ctx context.Context, text, detail string) (allowed bool, err error)
}

// Speakers are those whose calls are under way. Its zero value is ready for use.
type Speakers struct {
	mu   sync.Mutex
	byID map[string]Speaker
}

// MCP is the id by which "clank mcp" speaks to a server that runs. Its questions are the operator's.
const MCP = "mcp"

// Enter makes the calls with the context those of a Speaker, until its last result is called.
func (s *Speakers) Enter(ctx context.Context, sp Speaker) (call context.Context, leave func()) {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]Speaker{}
	}
	s.byID[id] = sp
	return remote.Asking(ctx, id), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byID, id)
	}
}

func (s *Speakers) find(id string) (Speaker, bool) {
	if id == MCP {
		return Speaker{Origin: terminal.Origin()}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, ok := s.byID[id]
	return sp, ok
}

// ToolConsent decides what models set off with the tool "browser". It is a [ask.Consent].
type ToolConsent struct{ *Asker }

// Ask implements [ask.Consent].
func (k ToolConsent) Ask(ctx context.Context, id string, q ask.Question) error {
	sp, known := k.Speakers.find(id)
	question := questionOf(sp.Origin)
	question.Session, question.Profile = sp.Session, q.Profile
	put := func(q consent.Question) (consent.Answer, error) {
		switch {
		case !known:
			return consent.Answer{}, k.Desk.Unasked(q)
		case sp.Elicit != nil:
			return consent.Answer{}, k.elicit(ctx, sp, q)
		}
		return k.Desk.Ask(ctx, q)
	}
	action := sessions.Question{Classes: q.Classes, Text: q.Text, Detail: q.Detail, Origin: q.Origin, To: q.To}
	_, err := k.decide(action, question, sessions.Task{Origin: sp.Origin}, put)
	return err
}

// elicit asks the person at an MCP client, if the rules leave it to people.
func (k *Asker) elicit(ctx context.Context, sp Speaker, q consent.Question) error {
	if k.Desk.Rule(q.Class) != consent.Ask {
		return k.Desk.Unasked(q)
	}
	wait := k.Settings().Asking.Wait
	asking, cancel := context.WithTimeoutCause(ctx, wait, errSilence)
	defer cancel()
	allowed, err := sp.Elicit(asking, q.Text, q.Detail)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case asking.Err() != nil:
		return &consent.Denied{Class: q.Class, Reason: fmt.Sprintf("nobody answered within %s", wait)}
	case err != nil:
		return k.Desk.Unasked(q)
	case !allowed:
		return &consent.Denied{Class: q.Class, By: "the person at the client"}
	}
	return nil
}

var errSilence = errors.New("nobody answered")
