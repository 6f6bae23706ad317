package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/sessions"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainFixture is a program, and Ada, who asks it in Discord for a slow page.
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
	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1}})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	f := &drainFixture{Server: d, t: t, asked: make(chan struct{}, 100), answer: make(chan struct{})}
	f.bot, f.ada = d.CreateBot("clank", "secret"), d.CreateUser("ada")
	guild := d.CreateGuild("home", f.ada)
	d.AddMember(guild, f.bot.User)
	f.room = d.CreateChannel(guild, "general")
	f.home, f.environ = newTestHome(t)
	trust := filepath.Join(t.TempDir(), "voice.pem")
	check.Must(t, os.WriteFile(trust, d.Voice.Certificate(), 0o600))
	f.environ = append(f.environ, "DISCORD_TOKEN="+f.bot.Token, "CLANK_DISCORD_API="+d.URL, "SSL_CERT_FILE="+trust)
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
		_, _ = io.WriteString(w, "<!doctype html><title>Ferry</title><link rel=icon href=data:,><p>The ferry leaves at "+
			"10:40.</p>")
	}).URL
	return f
}

// awaitAsked waits until the page is requested.
func (f *drainFixture) awaitAsked() {
	f.t.Helper()
	select {
	case <-f.asked:
	case <-testDeadline(f.t).Done():
		f.t.Fatalf("the page was not asked for; the room reads\n%s", strings.Join(f.texts(), "\n"))
	}
}

// texts returns the texts of the messages in the channel.
func (f *drainFixture) texts() (all []string) {
	for _, m := range f.Messages(f.room) {
		all = append(all, m.Content)
	}
	return all
}

// start starts the program, which allows tasks to finish for the given time at shutdown.
func (f *drainFixture) start(drain string) *runningProgram {
	f.t.Helper()
	for key, value := range map[string]string{ // a slow machine asks for more tasks before it is done
		"interaction.tasks.drainMs": drain, "interaction.tasks.maxPerHourPerGuild": "6000", keyPerHour: "600",
	} {
		if code, _, told := runInProcess(f.t, f.environ, "config", "set", key, value); code != exitDone {
			f.t.Fatalf("config set: %s", told)
		}
	}
	p := startServer(f.t, f.home, f.environ)
	check.Must(f.t, f.WaitConnected(testDeadline(f.t), f.bot))
	check.Must(f.t, f.Wait(testDeadline(f.t), "its commands", func() bool { return len(f.Commands(f.bot)) > 0 }))
	return p
}

func (f *drainFixture) browse(task string) discordtest.Interaction {
	f.t.Helper()
	it, err := f.SlashCommand(f.room, f.ada, "clank browse", discordtest.Args{"task": task})
	check.Must(f.t, err)
	return it
}

// says waits until the answer to a command contains a text.
func (f *drainFixture) says(it discordtest.Interaction, text string) {
	f.t.Helper()
	_, err := f.WaitInteraction(testDeadline(f.t), it, func(i discordtest.Interaction) bool {
		return strings.Contains(i.Text(), text)
	})
	if err != nil {
		f.t.Fatalf("no answer says %q: %v", text, err)
	}
}

func TestTasksFinishBeforeTheProgramEndsOrGoOnAfterItsStart(t *testing.T) {
	t.Parallel()
	f := newDrainFixture(t)
	p := f.start("600000")
	first := f.browse("open " + f.site + ", read")
	f.awaitAsked()
	p.interrupt(t)
	awaitOutput(t, p.stderr, "tasks that may finish: 1")
	for range 2 { // a shell and the kernel send it when the terminal is closed
		check.Must(t, p.cmd.Process.Signal(syscall.SIGHUP))
	}
	later := f.browse("open " + f.site + "/quick?7, read")
	f.says(later, "goes on with this by itself")
	f.answer <- struct{}{}
	f.says(first, "10:40")
	check.Equal(t, "exit code", p.exitCode(t), exitDone)

	signal.Ignore(syscall.SIGHUP) // as nohup does
	p = f.start("0")
	signal.Reset(syscall.SIGHUP)
	f.says(later, "The ferry number 7 leaves")
	second := f.browse("open " + f.site + ", read")
	f.awaitAsked()
	check.Must(t, p.stopReading()) // as tee does at Ctrl-C
	check.Must(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.interrupt(t)
	f.says(second, "goes on with this by itself")
	check.Equal(t, "exit code", p.exitCode(t), exitDone)
	f.start("0")
	f.awaitAsked()
	close(f.answer)
	f.says(second, "10:40")
}

// saysHowToGoOn reports whether the text says that clank is restarting and that the session will be available. A
// client that only notices that clank is gone gets a different text.
func saysHowToGoOn(told string) bool {
	return strings.Contains(told, "session") &&
		(strings.Contains(told, "restart") || strings.Contains(told, "start it again"))
}

// elsewhereAsked are tasks from other places than Discord, by how the shutdown appears there.
var elsewhereAsked = map[string]func(t *testing.T, f *drainFixture, task string) (afterwards func()){
	"the page's task goes on": func(t *testing.T, f *drainFixture, task string) func() {
		t.Helper()
		started, err := f.page(t).Start(t.Context(), api.TaskRequest{Prompt: task})
		check.Must(t, err)
		return func() { f.awaitAnswer(t, started.SessionID) }
	},
	"the terminal is told how to go on": func(t *testing.T, f *drainFixture, task string) func() {
		t.Helper()
		p := startProgram(t, f.home, f.environ, "browse", "--json", task)
		return func() {
			if code := p.exitCode(t); code == exitDone || !saysHowToGoOn(p.stderr.text()) {
				t.Errorf("exit code %d, stderr %s", code, p.stderr.text())
			}
		}
	},
	"a program at MCP is told how to go on": func(t *testing.T, f *drainFixture, task string) func() {
		t.Helper()
		s := mcpClient(t, f.environ, nil)
		said := make(chan string, 1)
		go func() {
			res, err := s.CallTool(testDeadline(t),
				&mcp.CallToolParams{Name: "browser_browse", Arguments: map[string]any{"query": task}})
			if err != nil {
				said <- err.Error()
				return
			}
			said <- res.Content[0].(*mcp.TextContent).Text
		}()
		return func() {
			if got := <-said; !saysHowToGoOn(got) {
				t.Errorf("the program is told %q", got)
			}
		}
	},
}

// page returns a client of the running program.
func (f *drainFixture) page(t *testing.T) *api.Client {
	t.Helper()
	at, found, err := (&server.Home{Dir: f.home}).RunningServer()
	if err != nil || !found {
		t.Fatalf("no server: %v", err)
	}
	return &api.Client{Base: at.URL, Token: at.Secret}
}

// awaitAnswer waits until a task of a session says when the ferry leaves.
func (f *drainFixture) awaitAnswer(t *testing.T, session string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(testDeadline(t), 30*time.Second)
	defer cancel()
	for {
		tasks, err := f.page(t).Tasks(ctx, url.Values{"session": {session}})
		check.Must(t, err)
		for _, task := range tasks {
			if strings.Contains(task.Task.Answer, "10:40") {
				return
			}
			if task.Task.State.Final() {
				continue
			}
			_, err := f.page(t).Follow(ctx, task.Task.ID, func(sessions.Event) {})
			check.Must(t, err)
		}
		check.Must(t, ctx.Err())
	}
}

func TestInterruptedTasksContinueOrExplainHowTo(t *testing.T) {
	t.Parallel()
	f := newDrainFixture(t)
	if code, _, told := runInProcess(t, f.environ, "config", "set", "interaction.tasks.maxAtOncePerUser",
		"9"); code != exitDone {
		t.Fatalf("config set: %s", told)
	}
	p := f.start("0")
	var afterwards []func()
	for name, ask := range elsewhereAsked {
		ends := ask(t, f, fmt.Sprintf("open %s/%d, read", f.site, len(afterwards)))
		afterwards = append(afterwards, func() { t.Logf("%s", name); ends() })
		f.awaitAsked()
	}
	p.interrupt(t)
	p.exitCode(t)
	f.start("0")
	close(f.answer)
	for _, ends := range afterwards {
		ends()
	}
	tasks, err := f.page(t).Tasks(t.Context(), nil)
	check.Must(t, err)
	cut := 0
	for _, task := range tasks {
		if task.Task.State == sessions.TaskInterrupted && strings.Contains(task.Task.Reason, "stopped by the restart") {
			cut++
		}
	}
	if cut != len(elsewhereAsked) {
		t.Errorf("%d records say that the restart has stopped their task, want %d", cut, len(elsewhereAsked))
	}
}

func TestShutdownLeavesCallsAlthoughTheGatewaySessionStaysOpen(t *testing.T) {
	t.Parallel()
	f := newDrainFixture(t)
	p := f.start("0")
	home := discordtest.Guild{ID: f.room.GuildID}
	f.JoinVoice(f.CreateVoiceChannel(home, "lounge"), f.ada)
	it, err := f.SlashCommand(f.room, f.ada, "clank join", nil)
	check.Must(t, err)
	f.says(it, "I am in")
	p.interrupt(t)
	p.exitCode(t)
	if err := f.Wait(testDeadline(t), "clank to leave", func() bool {
		return f.VoiceStates(home)[f.bot.ID].ChannelID == nil
	}); err != nil {
		t.Error(err)
	}
}
