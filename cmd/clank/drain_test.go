package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// drainFixture is a program, and Ada, who asks it in Discord for a page that is slow.
type drainFixture struct {
	*discordtest.Server
	t       *testing.T
	home    string
	environ []string
	bot     discordtest.Bot
	ada     discordtest.User
	room    discordtest.Channel
	site    string
	asked   chan struct{} // holds a token for each time that the page was asked for
	answer  chan struct{} // lets the page be answered
}

func newDrainFixture(t *testing.T) *drainFixture {
	t.Helper()
	d, err := discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	f := &drainFixture{Server: d, t: t, asked: make(chan struct{}, 100), answer: make(chan struct{})}
	f.bot, f.ada = d.CreateBot("clank", "secret"), d.CreateUser("ada")
	guild := d.CreateGuild("home", f.ada)
	d.AddMember(guild, f.bot.User)
	f.room = d.CreateChannel(guild, "general")
	f.home, f.environ = newTestHome(t)
	f.environ = append(f.environ, "DISCORD_TOKEN="+f.bot.Token, "CLANK_DISCORD_API="+d.URL)
	f.site = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/quick" {
			serveFerry(w, r)
			return
		}
		f.asked <- struct{}{}
		select {
		case <-f.answer:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Ferry</title><link rel=icon href=data:,><p>The ferry leaves at 10:40.</p>")
	}).URL
	return f
}

// start starts the program, which lets tasks finish for so long when it is ended.
func (f *drainFixture) start(drain string) *runningProgram {
	f.t.Helper()
	if code, _, told := runInProcess(f.t, f.environ, "config", "set", "interaction.tasks.drainMs", drain); code != exitDone {
		f.t.Fatalf("config set: %s", told)
	}
	p := startServer(f.t, f.home, f.environ)
	check.Must(f.t, f.WaitConnected(testDeadline(f.t), f.bot))
	return p
}

func (f *drainFixture) browse(task string) discordtest.Interaction {
	f.t.Helper()
	it, err := f.SlashCommand(f.room, f.ada, "clank browse", discordtest.Args{"task": task})
	check.Must(f.t, err)
	return it
}

// says waits until the answer to a command says a text.
func (f *drainFixture) says(it discordtest.Interaction, text string) {
	f.t.Helper()
	_, err := f.WaitInteraction(testDeadline(f.t), it, func(i discordtest.Interaction) bool { return strings.Contains(i.Text(), text) })
	if err != nil {
		f.t.Fatalf("no answer says %q: %v", text, err)
	}
}

func TestTasksFinishBeforeTheProgramEndsOrGoOnAfterItsStart(t *testing.T) {
	t.Parallel()
	f := newDrainFixture(t)
	p := f.start("600000")
	first := f.browse("open " + f.site + ", read")
	<-f.asked
	p.interrupt(t)
	awaitOutput(t, p.stderr, "tasks that may finish: 1")
	later := f.browse("open " + f.site + "/quick?7, read")
	f.says(later, "goes on with this by itself")
	f.answer <- struct{}{}
	f.says(first, "10:40")
	if got := p.exitCode(t); got != exitDone {
		t.Errorf("exit code = %d, want %d", got, exitDone)
	}

	p = f.start("0")
	f.says(later, "The ferry number 7 leaves")
	second := f.browse("open " + f.site + ", read")
	<-f.asked
	p.interrupt(t)
	f.says(second, "goes on with this by itself")
	p.exitCode(t)
	f.start("0")
	<-f.asked
	close(f.answer)
	f.says(second, "10:40")
}
