package main

import (
	"context"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/sessions"
)

const (
	presetKey = "agentStack.preset"
	taskLimit = "agentStack.runtimeConfig.budget.task"
)

func TestSettingsAreReadAndChangedInTheTerminal(t *testing.T) {
	t.Parallel()
	runSteps(t, newTestEnv(t, nil),
		commandStep{"config", exitDone, "nothing is set by hand", ""},
		commandStep{"config set " + presetKey + " claude_api", exitDone, "not ready yet: local_browser_agent with the model anthropic:", ""},
		commandStep{"config get " + presetKey, exitDone, "claude_api\n", ""},
		commandStep{"browse hello", exitFailed, "set ANTHROPIC_API_KEY", ""},
		commandStep{"doctor", exitFailed, "✓  budget", ""},
		commandStep{"doctor --json", exitFailed, `"name": "search"`, ""},
		commandStep{"config --json", exitDone, `"value": "claude_api"`, ""},
		commandStep{"config unset " + presetKey, exitDone, "saved: agentStack.preset is empty", ""},
		commandStep{"config", exitDone, "nothing is set by hand", ""},
		commandStep{"doctor", exitDone, "plain:steps (chosen)", ""},
		commandStep{"config set interaction.brain.model openai:gpt-4.1", exitDone, "saved: ", ""},
		commandStep{"doctor", exitDone, "openai:gpt-4.1 (OpenAI takes it back on 2027-01-14; gpt-6-luna takes its place)", ""},
		commandStep{"config unset interaction.brain.model", exitDone, "saved: ", ""},
		commandStep{"config set " + taskLimit + " '2 beans'", exitFailed, `unlike "beans"`, ""},
		commandStep{"config set " + presetKey, exitUsage, "<value> is missing", ""},
		commandStep{"config get agentStack.prest", exitUsage, "did you mean agentStack.preset?", ""},
		commandStep{"config set OPENAI_API_KEY sk-1", exitUsage, "OPENAI_API_KEY_FILE", ""})
}

func configuredFromTheTerminal(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	r.openDashboard(t)
	say := func(want string, args ...string) {
		t.Helper()
		if got := runCommand(t.Context(), r.env, args...); got.code != exitDone || !strings.Contains(got.stdout+got.stderr, want) {
			t.Errorf("clank %s: got %+v, want %q", strings.Join(args, " "), got, want)
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
	if got := runCommand(t.Context(), r.env, "sessions", "say", ev.Record.ID, "more"); got.code != exitFailed || !strings.Contains(got.stderr, "start a task in it") {
		t.Errorf("a task that has ended: got %+v", got)
	}
}
