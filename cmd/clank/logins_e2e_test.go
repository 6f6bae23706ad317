package main

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/server"
	"clank/internal/test/llmtest"
	"clank/internal/vault"
	"clank/sessions"
)

func loggingInNeedsConsent(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	put := vault.NewEntry{Name: "shop", Origins: []string{r.site.URL}, Username: "ada", Password: "hunter2!", TOTP: "JBSWY3DPEHPK3PXP"}
	if err := r.server.Vault.Put(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	login := toolTurn("fill_login", map[string]any{"entry": "shop", "submit": true})
	code := toolTurn("fill_totp", map[string]any{"entry": "shop"})
	for _, tt := range []struct {
		name  string
		turns []llmtest.Turn // none: plain follows the prompt
		typed bool
		allow []string
		sent  bool
		want  string
	}{
		{"nobody to ask", []llmtest.Turn{openPage(r.site.URL + "/login"), login, answering("done: %s", `Not done: nobody.*`)}, true, nil, false, "or use clank browse --allow login"},
		{"nobody to ask for a code", []llmtest.Turn{openPage(r.site.URL + "/code"), code, answering("done: %s", `Not done: nobody.*`)}, true, nil, false, "or use clank browse --allow login"},
		{"allowed with the task", []llmtest.Turn{openPage(r.site.URL + "/login"), login, answering("done: %s", `filled in at.*`)}, true, []string{"login"}, true, "and sent"},
		{"a code, allowed", []llmtest.Turn{openPage(r.site.URL + "/code"), code, answering("done: %s", `the code is filled.*`)}, true, []string{"login"}, false, "filled in"},
		{"in own words", nil, true, nil, true, ""},
		{"in a program's words", nil, false, nil, false, "or use clank browse --allow login"},
	} {
		task := sessions.Task{Prompt: "open " + r.site.URL + "/login, log in with shop", Model: "plain:steps", Origin: server.TerminalOrigin(), Allow: tt.allow, Typed: tt.typed}
		if tt.turns != nil {
			r.setScript(tt.turns)
			task.Model = "compatible:scripted"
		}
		r.bought()
		rec, err := localRunner{r.server, r.env}.Run(t.Context(), task, func(sessions.Event) {})
		state := sessions.TaskDone
		if tt.turns == nil && !tt.typed {
			state = sessions.TaskFailed // plain ends where a step is refused
		}
		if err != nil || rec.State != state || !strings.Contains(rec.Answer, tt.want) {
			t.Errorf("%s: %s, %v, the answer %q", tt.name, rec.State, err, rec.Answer)
		}
		sent := false
		for len(r.site.hits) > 0 {
			sent = <-r.site.hits == "/entered" || sent
		}
		if sent != tt.sent {
			t.Errorf("%s: sent %v", tt.name, sent)
		}
	}
}

func loginIsUsedWhereAgreed(t *testing.T, r *serverFixture) {
	t.Helper()
	put := vault.NewEntry{Name: "shop", Origins: []string{r.site.URL}, Username: "ada", Password: "hunter2!", TOTP: "JBSWY3DPEHPK3PXP"}
	if err := r.server.Vault.Put(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	task := sessions.Task{Prompt: "open " + r.site.URL + "/login", Model: "plain:steps", Origin: server.TerminalOrigin()}
	rec, err := localRunner{r.server, r.env}.Run(t.Context(), task, func(sessions.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	k := server.VaultLogins{Vault: r.server.Vault, Filler: &r.server.LoginFiller, Windows: r.server.Browsers}
	session := sessions.Session{ID: rec.SessionID}
	origin, about, err := k.Where(t.Context(), session, task, "shop", false)
	if err != nil || origin != r.site.URL || !strings.HasPrefix(about, "Log in at ") || !strings.Contains(about, `as "ada"`) {
		t.Errorf("where: %q, %q, %v", origin, about, err)
	}
	if _, err := k.Fill(t.Context(), session, task, "shop", "https://other.example", true); !errors.Is(err, server.ErrPageChanged) {
		t.Errorf("another origin was agreed to: %v", err)
	}
	if _, err := k.Fill(t.Context(), session, task, "shop", "", false); !errors.Is(err, server.ErrPageChanged) {
		t.Errorf("no origin was agreed to: %v", err)
	}
	if _, err := k.FillCode(t.Context(), session, task, "shop", "https://other.example"); err == nil {
		t.Error("a code was filled in")
	}
	copying := func() error {
		w, ok := r.server.Browsers.Lookup(rec.SessionID)
		if !ok {
			t.Fatal("the page is gone")
		}
		return w.WithTab(t.Context(), func(tab *page.Tab) error {
			_, err := tab.Act(t.Context(), action.Action{Kind: actiontable.KindPress, Key: "Control+c"})
			return err
		})
	}
	if err := copying(); err != nil {
		t.Errorf("nothing is filled in yet: %v", err)
	}
	if notes, err := k.Fill(t.Context(), session, task, "shop", r.site.URL, false); err != nil || !strings.Contains(strings.Join(notes, " "), "it is not sent yet") {
		t.Errorf("where it was agreed to: %q, %v", notes, err)
	}
	if err := copying(); !errors.Is(err, page.ErrSecret) {
		t.Errorf("the page holds the password, and copying ends with %v", err)
	}
}
