package main

import (
	"context"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm/plain"
	"clank/sessions"
)

// runWithBuffers runs a command in this process.
func runWithBuffers(t *testing.T, e *commandEnv, out, told interface {
	String() string
	Reset()
}, args ...string,
) (code int, stdout, stderr string) {
	t.Helper()
	out.Reset()
	told.Reset()
	code = runCommandLine(t.Context(), e, args)
	return code, out.String(), told.String()
}

const (
	presetKey = "agentStack.preset"
	taskLimit = "agentStack.runtimeConfig.budget.task"
)

// settingRounds is what is written about settings, one line after the other.
var settingRounds = []struct {
	args []string
	code int
	want string // on stdout or stderr
}{
	{[]string{"config"}, exitDone, "nothing is set by hand"},
	{[]string{"config", "--all"}, exitDone, taskLimit},
	{[]string{"config", "set", presetKey, "claude_api"}, exitDone, "not ready yet: local_browser_agent with the model anthropic:"},
	{[]string{"config", "get", presetKey}, exitDone, "claude_api\n"},
	{[]string{"browse", "hello"}, exitFailed, "set ANTHROPIC_API_KEY"},
	{[]string{"doctor"}, exitFailed, "✓  budget"},
	{[]string{"doctor", "--json"}, exitFailed, `"name": "search"`},
	{[]string{"config", "--json"}, exitDone, `"value": "claude_api"`},
	{[]string{"config", "unset", presetKey}, exitDone, "saved: agentStack.preset is empty"},
	{[]string{"config"}, exitDone, "nothing is set by hand"},
	{[]string{"doctor"}, exitDone, "plain:steps (chosen)"},
	{[]string{"config", "set", "interaction.brain.model", "openai:gpt-4.1"}, exitDone, "saved: "},
	{[]string{"doctor"}, exitDone, "openai:gpt-4.1 (OpenAI takes it back on 2027-01-14; gpt-6-luna takes its place)"},
	{[]string{"config", "unset", "interaction.brain.model"}, exitDone, "saved: "},
	{[]string{"config", "set", taskLimit, "2 beans"}, exitFailed, `unlike "beans"`},
	{[]string{"config", "set", presetKey}, exitUsage, "set <key> <value>"},
	{[]string{"config", "get", "agentStack.prest"}, exitUsage, "did you mean agentStack.preset?"},
	{[]string{"config", "set", "OPENAI_API_KEY", "sk-1"}, exitUsage, "OPENAI_API_KEY_FILE"},
}

func TestSettingsAreReadAndChangedInTheTerminal(t *testing.T) {
	t.Parallel()
	e, stdout, stderr := testEnv(t)
	for _, c := range settingRounds {
		code, out, told := runWithBuffers(t, e, stdout, stderr, c.args...)
		if code != c.code || !strings.Contains(out+told, c.want) {
			t.Errorf("clank %s: exit %d, want %d and %q in\n%s%s", strings.Join(c.args, " "), code, c.code, c.want, out, told)
		}
	}
}

func TestCommandsThatNeedAServerSayHowToStartIt(t *testing.T) {
	t.Parallel()
	e, stdout, stderr := testEnv(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sessions", "say", "bcdf23ghjk", "hello"}, exitFailed, `no "clank serve" runs`},
		{[]string{"sessions", "say", "bcdf23ghjk"}, exitUsage, "say to which task"},
		{[]string{"watches", "add", "example.com"}, exitFailed, `no "clank serve" runs`},
		{[]string{"watches", "add"}, exitUsage, "say which page"},
		{[]string{"watches", "add", "example.com", "--below", "1", "--says", "x"}, exitUsage, "give one of"},
		{[]string{"watches", "begin", "example.com"}, exitUsage, "add <url>"},
		{[]string{"browse", "--script", "none-such"}, exitFailed, "there is no such script: none-such"},
		{[]string{"browse", "--script", "x", "--model", plain.ModelName}, exitUsage, "needs no model"},
		{[]string{"browse"}, exitUsage, "say what to do"},
	} {
		code, out, told := runWithBuffers(t, e, stdout, stderr, c.args...)
		if code != c.code || out != "" || !strings.Contains(told, c.want) {
			t.Errorf("clank %s: exit %d, %q, %q; want %d and %q", strings.Join(c.args, " "), code, out, told, c.code, c.want)
		}
	}
}

func configuredFromTheTerminal(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	r.openDashboard(t)
	e, stdout, stderr := testEnv(t)
	e.Getenv = r.env.Getenv
	say := func(want string, args ...string) {
		t.Helper()
		if code, out, told := runWithBuffers(t, e, stdout, stderr, args...); code != exitDone || !strings.Contains(out+told, want) {
			t.Errorf("clank %s: exit %d, no %q in\n%s%s", strings.Join(args, " "), code, want, out, told)
		}
	}
	say("saved", "config", "set", taskLimit, "7 calls")
	say("7 calls", "config")
	say("a task may take 7 calls", "doctor")
	say("saved", "config", "unset", taskLimit) // the last that was set by hand
	if got := r.server.Settings.Current().Budget.Task; got == "7 calls" {
		t.Errorf("the server still has %q", got)
	}

	said := make(chan struct{})
	r.setScript([]llmtest.Turn{
		func(req llmtest.Request) llmtest.Reply { <-said; return openPage(r.site.URL)(req) },
		func(req llmtest.Request) llmtest.Reply {
			if strings.Contains(string(req.Body), "only the late ones") {
				return llmtest.Say("late ones")(req)
			}
			return llmtest.Say("nothing was heard")(req)
		},
	})
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: r.guild.ID, Channel: r.room.ID, User: r.ada.ID, UserName: "ada"}
	ended := make(chan sessions.TaskRecord, 1)
	go func() {
		rec, err := r.server.Sessions.Run(context.WithoutCancel(t.Context()), sessions.Task{Prompt: "which ferries?", Origin: from}, nil)
		if err != nil {
			t.Error(err)
		}
		ended <- rec
	}()
	ev := r.awaitState(sessions.TaskRunning)
	say("told to task "+ev.Record.ID, "sessions", "say", ev.Record.ID, "only the late ones")
	close(said)
	if rec := <-ended; rec.Answer != "late ones" {
		t.Errorf("the answer is %q", rec.Answer)
	}
	say("no page is watched", "watches")
	if code, _, told := runWithBuffers(t, e, stdout, stderr, "sessions", "say", ev.Record.ID, "more"); code != exitFailed || !strings.Contains(told, "start a task in it") {
		t.Errorf("a task that has ended: exit %d, %s", code, told)
	}
}
