package main

import (
	"strings"
	"testing"

	"clank/internal/server"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/sessions"
)

// askedInRoom waits for a question in the room and presses a button of it.
func (r *serverFixture) askedInRoom(t *testing.T, who discordtest.User, text, label string) {
	t.Helper()
	m, err := r.discord.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, text) && len(m.Buttons()) > 1
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Buttons() {
		if b.Label == label {
			if _, err := r.discord.PressButton(m, who, b.CustomID); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("there is no button %q", label)
}

// bought reports whether something was bought on the site since it was last asked.
func (r *serverFixture) bought() (yes bool) {
	for len(r.site.hits) > 0 {
		yes = <-r.site.hits == "/bought" || yes
	}
	return yes
}

func roomIsAskedToBuy(t *testing.T, whole *serverFixture) {
	t.Helper()
	for label, want := range map[string]string{"Allow": "Allowed by @ada.", "No": "Not done: @ada said no."} {
		t.Run(label, func(t *testing.T) {
			r := whole.inNewRoom(t)
			r.setScript([]llmtest.Turn{openPage(r.site.URL + "/buy"), clickOn(`button "Buy now"`), answering("It says: %s", `(?:Allowed by|Not done: )[^.]*\.`)})
			m := r.askAndPress(t, "buy a lamp", "Buy, order or pay something", label)
			if !strings.Contains(strings.ReplaceAll(m.Content, `\`, ""), want) {
				t.Errorf("the answer says %q, want %q", m.Content, want)
			}
			if bought := r.bought(); bought != (label == "Allow") {
				t.Errorf("bought: %v", bought)
			}
		})
	}
}

func terminalBuysWhatItMay(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	for _, tt := range []struct {
		model  string
		typed  bool
		allow  []string
		bought bool
		want   string
	}{
		{"compatible:scripted", true, nil, false, "or use clank browse --allow buy"},
		{"compatible:scripted", true, []string{"buy"}, true, "done"},
		{"plain:steps", true, nil, true, ""}, // the person wrote the step
		{"plain:steps", false, nil, false, "or use clank browse --allow buy"},
	} {
		r.setScript([]llmtest.Turn{openPage(r.site.URL + "/buy"), clickOn(`button "Buy now"`), answering("done %s", `Not done: nobody.*`)})
		task := sessions.Task{Prompt: `open ` + r.site.URL + `/buy, click "Buy now"`, Model: tt.model, Origin: server.TerminalOrigin(), Allow: tt.allow, Typed: tt.typed}
		rec, err := localRunner{r.server, r.env}.Run(t.Context(), task, func(sessions.Event) {})
		state := sessions.TaskDone
		if tt.model == "plain:steps" && !tt.typed {
			state = sessions.TaskFailed // plain ends where a step is refused
		}
		if err != nil || rec.State != state {
			t.Fatalf("%s: %s, %v", tt.model, rec.State, err)
		}
		if bought := r.bought(); bought != tt.bought || !strings.Contains(rec.Answer, tt.want) {
			t.Errorf("%s, allowed %v: bought %v, and the answer says %q", tt.model, tt.allow, bought, rec.Answer)
		}
	}
}
