package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"clank/browsermgr/control/ask"
	"clank/browsertool/remote"
	"clank/consent"
	"clank/internal/browsecli"
	"clank/sessions"
)

// speaker is on whose behalf a model uses the tool "browser".
type speaker struct {
	origin  sessions.Origin
	session string // in which an answer "for this session" holds; "" for none
	// elicit asks the person at a program that speaks MCP; nil leaves it to the desk. The error says that nobody can be asked.
	elicit func(ctx context.Context, text, detail string) (allowed bool, err error)
}

// speakers are those whose calls are under way. Its zero value is ready for use.
type speakers struct {
	mu   sync.Mutex
	byID map[string]speaker
}

// mcpSpeaker is the id by which "clank mcp" speaks to a server that runs. Its questions are the operator's.
const mcpSpeaker = "mcp"

// enter makes the calls with the context those of a speaker, until its last result is called.
func (s *speakers) enter(ctx context.Context, sp speaker) (call context.Context, leave func()) {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]speaker{}
	}
	s.byID[id] = sp
	return remote.Asking(ctx, id), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byID, id)
	}
}

func (s *speakers) find(id string) (speaker, bool) {
	if id == mcpSpeaker {
		return speaker{origin: browsecli.Origin()}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, ok := s.byID[id]
	return sp, ok
}

// toolConsent decides what models set off with the tool "browser". It is a [ask.Consent].
type toolConsent struct{ *asker }

// Ask implements [ask.Consent].
func (k toolConsent) Ask(ctx context.Context, id string, q ask.Question) error {
	sp, known := k.speakers.find(id)
	question := questionOf(sp.origin)
	question.Session, question.Profile = sp.session, q.Profile
	put := func(q consent.Question) (consent.Answer, error) {
		switch {
		case !known:
			return consent.Answer{}, k.desk.Unasked(q)
		case sp.elicit != nil:
			return consent.Answer{}, k.elicit(ctx, sp, q)
		}
		return k.desk.Ask(ctx, q)
	}
	action := sessions.Question{Classes: q.Classes, Text: q.Text, Detail: q.Detail, Origin: q.Origin, To: q.To}
	_, err := k.decide(action, question, sessions.Task{Origin: sp.origin}, put)
	return err
}

// elicit asks the person at an MCP client, if the rules leave it to people.
func (k *asker) elicit(ctx context.Context, sp speaker, q consent.Question) error {
	if k.desk.Rule(q.Class) != consent.Ask {
		return k.desk.Unasked(q)
	}
	wait := k.settings().Asking.Wait
	asking, cancel := context.WithTimeoutCause(ctx, wait, errSilence)
	defer cancel()
	allowed, err := sp.elicit(asking, q.Text, q.Detail)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case asking.Err() != nil:
		return &consent.Denied{Class: q.Class, Reason: fmt.Sprintf("nobody answered within %s", wait)}
	case err != nil:
		return k.desk.Unasked(q)
	case !allowed:
		return &consent.Denied{Class: q.Class, By: "the person at the client"}
	}
	return nil
}

var errSilence = errors.New("nobody answered")
