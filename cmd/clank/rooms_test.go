package main

import (
	"context"
	"testing"

	"clank/dashboard"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
)

// TestOneClankInManyRooms tests what one clank does in one browser. Each part has its own room, in which nothing
// was said or done yet, and the usual settings.
func TestOneClankInManyRooms(t *testing.T) {
	t.Parallel()
	r := newServerFixture(t)
	for _, part := range []struct {
		name string
		do   func(t *testing.T, r *serverFixture)
	}{
		{"a mention sends the brain out, and the next one goes on in the same session", goesOnInTheSameSession},
		{"a command becomes one message with picture and answer", commandBecomesOneMessage},
		{"the brain works the browser itself where the setting says so", brainWorksTheBrowser},
		{"a task of the page is told step by step", taskOfThePageIsTold},
		{"the server is configured and its tasks are told from the terminal", configuredFromTheTerminal},
		{"the room is asked before something is bought", roomIsAskedToBuy},
		{"a terminal where nobody is asked buys only what it is allowed to", terminalBuysWhatItMay},
		{"downloads come from where pages may go", downloadsComeFromAllowedPlaces},
		{"the room is asked before a program is kept", roomIsAskedToKeep},
		{"the links of a page are listed for models and people", linksAreListed},
		{"a login is used only where a person agreed to it", loginIsUsedWhereAgreed},
		{"to log in needs a person's consent", loggingInNeedsConsent},
		{"a page that its scripts draw is watched with a browser", drawnPageIsWatched},
		{"a call on the page shows a browser and hears a stop", callOnThePage},
		{"an evening", testEvening},
		{"bad input is told clearly, and the next task works", badInputIsToldClearly},
	} {
		t.Run(part.name, func(t *testing.T) { part.do(t, r.inNewRoom(t)) })
	}
	checkRequestsValid(t, r.model)
}

// inNewRoom brings the range into a room of its own, for a part of a test.
func (r *serverFixture) inNewRoom(t *testing.T) *serverFixture {
	t.Helper()
	whole, room := r.tb, r.room
	var end func()
	r.events, end = r.server.Sessions.Subscribe()
	r.tb, r.room, r.firstRequest = t, r.discord.CreateChannel(r.guild, "room"), len(r.model.Requests())
	r.updateSettings(map[string]any{keyModel: scriptedModel, keyBrain: nil, "interaction.brain.browserTool": nil})
	r.setScript(nil)
	for len(r.site.hits) > 0 {
		<-r.site.hits
	}
	t.Cleanup(func() {
		end()
		r.tb, r.room = whole, room
	})
	return r
}

// requestsInRoom returns what the model was asked in the room.
func (r *serverFixture) requestsInRoom() []llmtest.Request {
	return r.model.Requests()[r.firstRequest:]
}

// openDashboard opens the dashboard, which programs with the same home find.
func (r *serverFixture) openDashboard(t *testing.T) *dashboard.Server {
	t.Helper()
	if r.board != nil {
		return r.board
	}
	if err := r.server.Home.Claim(); err != nil {
		t.Fatal(err)
	}
	r.server.Closers = append([]func(context.Context) error{func(context.Context) error {
		r.server.Home.Release()
		return nil
	}}, r.server.Closers...)
	board, err := r.server.OpenDashboard(context.WithoutCancel(t.Context()), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.board = board
	return board
}

// askAndPress has somebody in the room ask for a task and somebody press the button of a question; it returns the answer.
func (r *serverFixture) askAndPress(t *testing.T, task, question, label string) discordtest.Message {
	t.Helper()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.askedInRoom(t, r.ada, question, label)
	}()
	m := r.command(t, r.ada, discordtest.Args{"task": task})
	<-answered
	return m
}
