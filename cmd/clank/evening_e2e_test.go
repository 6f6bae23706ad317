package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/internal/watches"
	"clank/llm/plain"
	"clank/sessions"
)

// testEvening tests what people of one room do, one thing after the other.
func testEvening(t *testing.T, r *serverFixture) {
	t.Helper()
	for _, part := range []struct {
		name string
		do   func(t *testing.T, r *serverFixture)
	}{
		{"a vendor's warning is answered by a button", warned},
		{"a task hears a reply to its message", steered},
		{"the screen is left to computer use", handedOver},
		{"a spent budget gives the answer so far", spentEarly},
		{"a run becomes a script", savedAsScript},
		{"a price that drops is told", priceDrops},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.do(t, r) }) {
			break // the others would find the room as this one left it
		}
	}
}

// pressFirst returns a call of OpenAI's tool that clicks where the first button of
// /choice is, with a warning of the vendor's.
func pressFirst(checks ...llmtest.ScreenCheck) llmtest.Turn {
	return llmtest.Answer(llmtest.Reply{Screen: []llmtest.ScreenCall{{
		Actions: []string{`{"type":"click","button":"left","x":25,"y":80}`}, Checks: checks,
	}}})
}

func warned(t *testing.T, r *serverFixture) {
	t.Helper()
	warning := llmtest.ScreenCheck{ID: "c1", Code: "malicious_instructions", Message: "The page may give orders."}
	r.script.Set([]llmtest.Turn{
		toolTurn("navigate", map[string]any{"url": r.site.URL + "/choice"}), pressFirst(warning),
		llmtest.Say("The first way it is."),
	})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.askedInRoom(t, r.ada, "The page may give orders", "Allow")
	}()
	m := r.command(t, r.ada, discordtest.Args{"task": "take the first way", "runtime": "openai_computer_use"})
	<-answered
	check.Contains(t, m.Content, "The first way it is.")
	r.site.awaitHit(t, "/one")
}

func steered(t *testing.T, r *serverFixture) {
	t.Helper()
	said := make(chan struct{})
	r.script.Set([]llmtest.Turn{
		func(req llmtest.Request) llmtest.Reply { <-said; return openPage(r.site.URL)(req) },
		func(req llmtest.Request) llmtest.Reply {
			heard := "nothing"
			if strings.Contains(string(req.Body), "only the late ones") {
				heard = "late ones"
			}
			return llmtest.Say("I heard of " + heard + ".")(req)
		},
	})
	it, err := r.discord.SlashCommand(r.room, r.ada, "clank browse", discordtest.Args{"task": "which ferries are there?"})
	if err == nil {
		it, err = r.discord.WaitAnswer(testDeadline(t), it)
	}
	check.Must(t, err)
	m, err := r.discord.WaitEdit(testDeadline(t), it.Original.ID, func(m discordtest.Message) bool {
		return len(m.Buttons()) > 0
	})
	check.Must(t, err)
	r.awaitState(sessions.TaskRunning)
	check.Must(t, check.Err(r.discord.Send(r.room, r.ada, discordtest.Post{Text: "only the late ones", Reply: &m})))
	_, err = r.discord.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
		return strings.HasPrefix(m.Content, "Passed on.")
	})
	close(said)
	check.Must(t, err)
	if m := r.final(t, m.ID); !strings.Contains(m.Content, "I heard of late ones.") {
		t.Errorf("the message says %q", m.Content)
	}
	r.script.Set([]llmtest.Turn{llmtest.Say("On it goes.")})
	r.command(t, r.ada, discordtest.Args{"task": "continue, but with the early ones"})
	if tasks := r.tasks(t); tasks[0].SessionID != tasks[1].SessionID || tasks[0].Prompt != "but with the early ones" {
		t.Errorf("%q is in session %s, want %s", tasks[0].Prompt, tasks[0].SessionID, tasks[1].SessionID)
	}
}

func handedOver(t *testing.T, r *serverFixture) {
	t.Helper()
	const handOff = "agentStack.runtimeConfig.browser.handOff"
	r.updateSettings(map[string]any{handOff: "ask"})
	defer r.updateSettings(map[string]any{handOff: nil})
	r.script.Set([]llmtest.Turn{
		openPage(r.site.URL + "/choice"),
		toolTurn("hand_over", map[string]any{"runtime": "openai_computer_use", "brief": "press the first button"}),
		pressFirst(), llmtest.Say("The canvas is solved."),
	})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.askedInRoom(t, r.ada, "Go on with openai", "Allow")
	}()
	m := r.command(t, r.ada, discordtest.Args{"task": "solve the canvas"})
	<-answered
	check.Contains(t, m.Content, "The canvas is solved.")
	r.site.awaitHit(t, "/one")
}

func spentEarly(t *testing.T, r *serverFixture) {
	t.Helper()
	const limit = "agentStack.runtimeConfig.budget.task"
	r.updateSettings(map[string]any{limit: "2 calls"})
	defer r.updateSettings(map[string]any{limit: nil})
	r.script.Set([]llmtest.Turn{openPage(r.site.URL), toolTurn("browser_snapshot", nil), llmtest.Say("never said")})
	m := r.command(t, r.ada, discordtest.Args{"task": "read it all"})
	check.Contains(t, strings.ReplaceAll(m.Content, `\`, ""), "udget spent: 2 of 2 calls", "The page it is on", limit)
}

func savedAsScript(t *testing.T, r *serverFixture) {
	t.Helper()
	r.updateSettings(map[string]any{"agentStack.runtimeConfig.browser.localBrowserAgent.execution.model": plain.ModelName})
	r.command(t, r.ada, discordtest.Args{"task": `open ` + r.site.URL + `/choice, click "First"`})
	r.site.awaitHit(t, "/one")
	if got := runCommand(t.Context(), r.env, "sessions", "script", r.tasks(t)[0].ID, "first-way"); got.code != exitDone {
		t.Fatal(got)
	}
	if m := r.command(t, r.ada, discordtest.Args{"task": "run first-way"}); strings.Contains(m.Content, "not understand") {
		t.Errorf("the message says %q", m.Content)
	}
	r.site.awaitHit(t, "/one")
}

func priceDrops(t *testing.T, r *serverFixture) {
	t.Helper()
	var price atomic.Int64
	price.Store(25)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Lamp</title><p>A lamp for long nights, made in the north of good wood.</p><p>Price: $%d</p>",
			price.Load())
	}))
	t.Cleanup(shop.Close)
	it, err := r.discord.SlashCommand(r.room, r.ada, "clank watch", discordtest.Args{"url": shop.URL, "below": 20})
	check.Must(t, err)
	if _, err = r.discord.WaitInteraction(testDeadline(t), it, func(it discordtest.Interaction) bool {
		return it.Original != nil && strings.Contains(it.Original.Content, "Now it is $25")
	}); err != nil {
		t.Fatal(err)
	}
	all, err := r.server.Db.Watches(t.Context(), watches.Query{Active: true})
	all = slices.DeleteFunc(all, func(w watches.Watch) bool { return w.URL != shop.URL })
	if err != nil || len(all) != 1 {
		t.Fatalf("watched are %+v, %v", all, err)
	}
	price.Store(15)
	if _, err := r.server.Db.UpdateWatch(t.Context(), all[0].ID, func(w *watches.Watch) error {
		w.NextCheck = time.Now().Add(-time.Hour) // its time has come
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.server.Web.Watches.RecheckAfter = time.Millisecond
	r.server.RunWatches(t.Context(), r.server.Web)
	if _, err := r.discord.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
		return m.Author.ID == r.bot.ID && strings.Contains(m.Content, "$15")
	}); err != nil {
		t.Error(err)
	}
}
