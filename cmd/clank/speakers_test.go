package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"clank/browsermgr/control/ask"
	"clank/consent"
	"clank/sessions"
	"clank/settings"
)

// idIn is the id that calls with a context carry.
func idIn(t *testing.T, k *asker) string {
	t.Helper()
	k.speakers.mu.Lock()
	defer k.speakers.mu.Unlock()
	for id := range k.speakers.byID {
		return id
	}
	t.Fatal("nobody speaks")
	return ""
}

func TestAnUnknownSpeakerAsksNobody(t *testing.T) {
	k, set, f := newTestAsker(t) // somebody could be asked
	buy := ask.Question{Classes: []string{"submit", "buy"}, Text: "Buy"}
	err := toolConsent{k}.Ask(t.Context(), "guessed", buy)
	if denied := new(consent.Denied); !errors.As(err, &denied) || !strings.Contains(err.Error(), "set interaction.consent.buy to allow") {
		t.Errorf("it asked: %v", err)
	}
	set.Asking.Buy, set.Asking.Submit = settings.AskAllow, settings.AskAllow
	if err := (toolConsent{k}).Ask(t.Context(), "guessed", buy); err != nil {
		t.Errorf("allowed by the settings: %v", err)
	}
	set.Asking.Submit = settings.AskRefuse
	if err := (toolConsent{k}).Ask(t.Context(), "guessed", buy); err == nil || !strings.Contains(err.Error(), "the settings refuse it") {
		t.Errorf("refused by the settings: %v", err)
	}
	if qs := k.desk.Pending(); len(qs) != 0 {
		t.Errorf("asked %+v", qs)
	}
	_ = f
}

func TestTheOneWhoSpeaksIsAsked(t *testing.T) {
	k, _, f := newTestAsker(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: true}
	_, leave := k.speakers.enter(t.Context(), speaker{origin: origin, session: "talk"})
	id := idIn(t, k)
	got := make(chan error, 1)
	send := ask.Question{Profile: "work", Classes: []string{"send"}, Text: "Send", Origin: "https://here.test"}
	go func() { got <- toolConsent{k}.Ask(t.Context(), id, send) }()
	ev, err := f.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := ev.Question
	if q.Door != "discord" || q.Channel != "c" || q.User != "u" || !q.Private || q.Session != "talk" || q.Profile != "work" {
		t.Errorf("question %+v", q)
	}
	if err := k.desk.Answer(q.ID, consent.Answer{Allowed: true, ForSession: true, By: "@ada"}); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Errorf("allowed: %v", err)
	}
	if err := (toolConsent{k}).Ask(t.Context(), id, send); err != nil {
		t.Errorf("for the session: %v", err)
	}
	leave()
	if err := (toolConsent{k}).Ask(t.Context(), id, send); err == nil {
		t.Error("somebody who has left is still asked")
	}
}

func TestThePersonAtAnMCPClientIsAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		answer *mcp.ElicitResult // nil: the client cannot ask
		bought bool
		want   string
	}{
		"yes":           {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, true, "targetId"},
		"no tick":       {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": false}}, false, "the person at the client said no"},
		"no":            {&mcp.ElicitResult{Action: "decline"}, false, "the person at the client said no"},
		"nobody to ask": {nil, false, "set interaction.consent.buy to allow"},
	} {
		t.Run(name, func(t *testing.T) {
			_, environ := newPlace(t)
			site := newSite(t)
			var said []string
			opts := &mcp.ClientOptions{}
			if tt.answer != nil {
				opts.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					said = append(said, r.Params.Message)
					return tt.answer, nil
				}
			}
			s := mcpClientWith(t, environ, opts)
			callTool(t, s, "browser", map[string]any{"action": "open", "url": site.URL + "/buy"})
			ref := refOf(callTool(t, s, "browser", map[string]any{"action": "snapshot"}), `button "Buy now"`)
			res, err := s.CallTool(waiting(t), &mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "act", "request": map[string]any{"kind": "click", "ref": ref}}})
			if err != nil {
				t.Fatal(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			if !strings.Contains(text, tt.want) || res.IsError == tt.bought || !tt.bought && !strings.Contains(text, "Do not try it in another way") {
				t.Errorf("the tool says %s", text)
			}
			if asked := len(said) == 1 && strings.HasPrefix(said[0], "Buy, order or pay something at 127.0.0.1") && strings.Contains(said[0], "“Buy now”"); asked != (tt.answer != nil) {
				t.Errorf("the person was asked %q", said)
			}
			bought := false
			for len(site.hits) > 0 {
				bought = <-site.hits == "/bought" || bought
			}
			if bought != tt.bought {
				t.Errorf("bought: %v", bought)
			}
		})
	}
}
