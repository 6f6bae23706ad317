package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"clank/browseagent/browsertool"
	"clank/sessions"
	"clank/sessions/approval"
)

// ToolCaller is the person or program on whose behalf a model uses the tool "browser".
type ToolCaller struct {
	Origin  sessions.Origin
	Session string // scope of answers "for this session"; "" for none
	Task    string // id under which the questions of one call are followed; "" for none
	// Elicit asks the user of an MCP client; nil leaves the question to the approval queue. Its error means that
	// nobody can be asked.
	Elicit func(ctx context.Context, text, detail string) (allowed bool, err error)
}

// ToolCallers tracks the callers of running calls. The zero value is ready to use.
type ToolCallers struct {
	mu   sync.Mutex
	byID map[string]ToolCaller
}

// MCPCallerID is the prefix of the ids by which "clank mcp" identifies its calls to a running server. Their questions
// go to the operator, and to the client that follows the call by its id.
const MCPCallerID = "mcp-"

// Register attributes the calls with the returned context to sp, until leave is called.
func (s *ToolCallers) Register(ctx context.Context, sp ToolCaller) (call context.Context, leave func()) {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]ToolCaller{}
	}
	s.byID[id] = sp
	return browsertool.WithAskID(ctx, id), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byID, id)
	}
}

func (s *ToolCallers) lookup(id string) (ToolCaller, bool) {
	if strings.HasPrefix(id, MCPCallerID) {
		return ToolCaller{Origin: TerminalOrigin(), Task: id}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, ok := s.byID[id]
	return sp, ok
}

// ToolApprover approves the actions of models that use the tool "browser". It implements [control.Approver].
type ToolApprover struct {
	*Approver

	Downloads *DownloadApprover // notified of clicks that may download a program; may be nil
}

// Profile implements [control.Approver]: it restricts a model to the profiles of the person it works for.
func (k ToolApprover) Profile(id, want string) (string, error) {
	sp, known := k.Callers.lookup(id)
	if !known { // a program of the operator
		return want, nil
	}
	return toolProfile(k.Settings.Current(), sp.Origin, want)
}

// Ask implements [control.Approver].
func (k ToolApprover) Ask(ctx context.Context, id, profile string, action sessions.Question) error {
	sp, known := k.Callers.lookup(id)
	question := questionFor(sp.Origin)
	question.Session, question.Task, question.Profile = sp.Session, sp.Task, profile
	put := func(q approval.Question) (approval.Answer, error) {
		switch {
		case !known:
			return approval.Answer{}, k.Approvals.CheckRules(q)
		case sp.Elicit != nil:
			return approval.Answer{}, k.askMCPClient(ctx, sp, q)
		}
		return k.Approvals.Ask(ctx, q)
	}
	_, err := k.approveClasses(ctx, action, question, sessions.Task{Origin: sp.Origin}, put)
	if err == nil && k.Downloads != nil && slices.Contains(action.Classes, string(approval.ClassExecutable)) {
		k.Downloads.recordApprovedClick(callerKey(id))
	}
	return err
}

// askMCPClient asks the user of an MCP client, if the rules require approval.
func (k *Approver) askMCPClient(ctx context.Context, sp ToolCaller, q approval.Question) error {
	if k.Approvals.Rule(q.Class) != approval.RuleAsk {
		return k.Approvals.CheckRules(q)
	}
	wait := k.Settings.Current().Approval.Wait
	asking, cancel := context.WithTimeoutCause(ctx, wait, errNoAnswer)
	defer cancel()
	allowed, err := sp.Elicit(asking, q.Text, q.Detail)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case asking.Err() != nil:
		return &approval.DeniedError{
			Class:  q.Class,
			Reason: fmt.Sprintf("nobody answered within %v", sessions.DurationText(wait)),
		}
	case errors.Is(err, browsertool.ErrNobodyAnswered):
		return &approval.DeniedError{Class: q.Class, Reason: err.Error()}
	case err != nil:
		return k.Approvals.CheckRules(q)
	case !allowed:
		return &approval.DeniedError{Class: q.Class, By: "the person at the client"}
	}
	return nil
}

var errNoAnswer = errors.New("nobody answered")
