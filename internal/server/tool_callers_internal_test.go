package server

import (
	"errors"
	"strings"
	"testing"

	"clank/internal/settings"
	"clank/sessions"
	"clank/sessions/approval"
)

// callerIDIn returns the id that calls with a context carry.
func callerIDIn(t *testing.T, k *Approver) string {
	t.Helper()
	k.Callers.mu.Lock()
	defer k.Callers.mu.Unlock()
	for id := range k.Callers.byID {
		return id
	}
	t.Fatal("nobody speaks")
	return ""
}

func TestAnUnknownSpeakerAsksNobody(t *testing.T) {
	k, set, f := newTestApprover(t) // somebody could be asked
	buy := sessions.Question{Classes: []string{"submit", "buy"}, Text: "Buy"}
	err := ToolApprover{k}.Ask(t.Context(), "guessed", "work", buy)
	if denied := new(approval.DeniedError); !errors.As(err, &denied) || !strings.Contains(err.Error(), "set interaction.consent.buy to allow") {
		t.Errorf("it asked: %v", err)
	}
	set.Approval.Buy, set.Approval.Submit = settings.AskAllow, settings.AskAllow
	if err := (ToolApprover{k}).Ask(t.Context(), "guessed", "work", buy); err != nil {
		t.Errorf("allowed by the settings: %v", err)
	}
	set.Approval.Submit = settings.AskRefuse
	if err := (ToolApprover{k}).Ask(t.Context(), "guessed", "work", buy); err == nil || !strings.Contains(err.Error(), "the settings refuse it") {
		t.Errorf("refused by the settings: %v", err)
	}
	if qs := k.Approvals.Pending(); len(qs) != 0 {
		t.Errorf("asked %+v", qs)
	}
	_ = f
}

func TestTheOneWhoSpeaksIsAsked(t *testing.T) {
	k, _, f := newTestApprover(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: true}
	_, leave := k.Callers.Register(t.Context(), ToolCaller{Origin: origin, Session: "talk"})
	id := callerIDIn(t, k)
	got := make(chan error, 1)
	send := sessions.Question{Classes: []string{"send"}, Text: "Send", Origin: "https://here.test"}
	go func() { got <- ToolApprover{k}.Ask(t.Context(), id, "work", send) }()
	ev, err := f.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := ev.Question
	if q.Source != "discord" || q.Channel != "c" || q.User != "u" || !q.Private || q.Session != "talk" || q.Profile != "work" {
		t.Errorf("question %+v", q)
	}
	if err := k.Approvals.Answer(q.ID, approval.Answer{Allowed: true, ForSession: true, By: "@ada"}); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Errorf("allowed: %v", err)
	}
	if err := (ToolApprover{k}).Ask(t.Context(), id, "work", send); err != nil {
		t.Errorf("for the session: %v", err)
	}
	leave()
	if err := (ToolApprover{k}).Ask(t.Context(), id, "work", send); err == nil {
		t.Error("somebody who has left is still asked")
	}
}
