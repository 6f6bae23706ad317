package asking

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/control/ask"
	"clank/consent"
	"clank/sessions"
	"clank/settings"
)

// idIn is the id that calls with a context carry.
func idIn(t *testing.T, k *Asker) string {
	t.Helper()
	k.Speakers.mu.Lock()
	defer k.Speakers.mu.Unlock()
	for id := range k.Speakers.byID {
		return id
	}
	t.Fatal("nobody speaks")
	return ""
}

func TestAnUnknownSpeakerAsksNobody(t *testing.T) {
	k, set, f := newTestAsker(t) // somebody could be asked
	buy := ask.Question{Classes: []string{"submit", "buy"}, Text: "Buy"}
	err := ToolConsent{k}.Ask(t.Context(), "guessed", buy)
	if denied := new(consent.Denied); !errors.As(err, &denied) || !strings.Contains(err.Error(), "set interaction.consent.buy to allow") {
		t.Errorf("it asked: %v", err)
	}
	set.Asking.Buy, set.Asking.Submit = settings.AskAllow, settings.AskAllow
	if err := (ToolConsent{k}).Ask(t.Context(), "guessed", buy); err != nil {
		t.Errorf("allowed by the settings: %v", err)
	}
	set.Asking.Submit = settings.AskRefuse
	if err := (ToolConsent{k}).Ask(t.Context(), "guessed", buy); err == nil || !strings.Contains(err.Error(), "the settings refuse it") {
		t.Errorf("refused by the settings: %v", err)
	}
	if qs := k.Desk.Pending(); len(qs) != 0 {
		t.Errorf("asked %+v", qs)
	}
	_ = f
}

func TestTheOneWhoSpeaksIsAsked(t *testing.T) {
	k, _, f := newTestAsker(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: true}
	_, leave := k.Speakers.Enter(t.Context(), Speaker{Origin: origin, Session: "talk"})
	id := idIn(t, k)
	got := make(chan error, 1)
	send := ask.Question{Profile: "work", Classes: []string{"send"}, Text: "Send", Origin: "https://here.test"}
	go func() { got <- ToolConsent{k}.Ask(t.Context(), id, send) }()
	ev, err := f.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := ev.Question
	if q.Door != "discord" || q.Channel != "c" || q.User != "u" || !q.Private || q.Session != "talk" || q.Profile != "work" {
		t.Errorf("question %+v", q)
	}
	if err := k.Desk.Answer(q.ID, consent.Answer{Allowed: true, ForSession: true, By: "@ada"}); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Errorf("allowed: %v", err)
	}
	if err := (ToolConsent{k}).Ask(t.Context(), id, send); err != nil {
		t.Errorf("for the session: %v", err)
	}
	leave()
	if err := (ToolConsent{k}).Ask(t.Context(), id, send); err == nil {
		t.Error("somebody who has left is still asked")
	}
}
