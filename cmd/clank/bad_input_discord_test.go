package main

import (
	"slices"
	"strings"
	"testing"

	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
)

// badInput is what somebody does in Discord that cannot go well.
type badInput struct {
	name string
	set  map[string]any
	say  []llmtest.Turn // what the model says
	do   func(t *testing.T, r *serverFixture) discordtest.Message
	want []string // what they must be told
}

func badInputs(dead string) []badInput {
	browse := func(args discordtest.Args) func(*testing.T, *serverFixture) discordtest.Message {
		return func(t *testing.T, r *serverFixture) discordtest.Message {
			t.Helper()
			return r.command(t, r.ada, args)
		}
	}
	mention := func(text string) func(*testing.T, *serverFixture) discordtest.Message {
		return func(t *testing.T, r *serverFixture) discordtest.Message {
			t.Helper()
			return r.mention(t, r.ada, text)
		}
	}
	task := browse(discordtest.Args{"task": "find the ferry"})
	brain := map[string]any{keyBrain: "compatible:talker"}
	told := func(req llmtest.Request) llmtest.Reply { return llmtest.Say("I was told: " + req.LastText())(req) }
	noModel := llmtest.Fail(404, "model_not_found", "no such model")
	wrongKey := llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: "+testKey)
	return []badInput{
		{name: "unknown session", do: browse(discordtest.Args{"task": "find the ferry", "session": "nosuch"}), want: []string{`no session "nosuch"`, "leave it out to start a new one"}},
		{name: "session of somebody else", do: continueForeignSession, want: []string{"belongs to ada", "start one of your own"}},
		{name: "empty task", do: browse(discordtest.Args{"task": "  "}), want: []string{"The task is empty", "say what to do"}},
		{name: "browsing switched off", set: map[string]any{"agentStack.runtimeConfig.browser.enabled": false}, do: task, want: []string{"switched off in the settings"}},
		{name: "no browses left", set: map[string]any{keyPerHour: 0}, do: task, want: []string{"the settings allow no tasks per hour"}},
		{name: "words without steps", set: map[string]any{keyModel: "plain:steps"}, do: browse(discordtest.Args{"task": "find the ferry"}), want: []string{`I did not understand "find the ferry"`, "choose a language model in the settings"}},
		{name: "page refuses connections", say: []llmtest.Turn{openPage("http://" + dead), told}, do: task, want: []string{"refused the connection", "nothing listens there"}},
		{name: "wrong key", say: []llmtest.Turn{wrongKey}, do: task, want: []string{"That did not work", scriptedModel, "wants a key", "set COMPATIBLE_API_KEY"}},
		{name: "no server", set: map[string]any{keyServer: "http://" + dead + "/v1"}, do: task, want: []string{"nothing answers at " + dead, "is the server running?"}},
		{name: "model is cut off", say: []llmtest.Turn{cutOff}, do: task, want: []string{"cut off in the middle", "ask again"}},
		{name: "mention without words", do: mention(""), want: []string{"Tell me what to do in the browser, for example"}},
		{name: "mention, and the browser's model fails", say: []llmtest.Turn{noModel}, do: mention("find the ferry"), want: []string{`there is no model "scripted"`, "check the name"}},
		{name: "brain has a wrong key", set: brain, say: []llmtest.Turn{wrongKey}, do: mention("hello"), want: []string{"I could not think of an answer", "compatible:talker", "wants a key"}},
		{name: "brain is cut off", set: brain, say: []llmtest.Turn{cutOff}, do: mention("hello"), want: []string{"cut off in the middle", "ask again"}},
		{name: "brain makes broken calls", set: brain, say: slices.Repeat([]llmtest.Turn{
			rawToolTurn("browser_browse", `{"query`), rawToolTurn("browser_fly", `{}`), rawToolTurn("browser_browse", `{}`),
		}, 3), do: mention("find the ferry"), want: []string{"The model gave no answer", "try again, or choose another model"}},
		{name: "brain hears that the browser's model fails", set: brain, say: []llmtest.Turn{
			rawToolTurn("browser_browse", `{"query":"find the ferry"}`), noModel, told,
		}, do: mention("find the ferry"), want: []string{"It failed", `there is no model "scripted"`}},
	}
}

// continueForeignSession lets bob go on in ada's session.
func continueForeignSession(t *testing.T, r *serverFixture) discordtest.Message {
	t.Helper()
	r.setScript([]llmtest.Turn{openPage(r.site.URL), llmtest.Say("open")})
	r.command(t, r.ada, discordtest.Args{"task": "open the page"})
	bob := r.discord.CreateUser("bob")
	r.discord.AddMember(r.guild, bob)
	return r.command(t, bob, discordtest.Args{"task": "read it", "session": r.tasks(t)[0].SessionID})
}

func badInputIsToldClearly(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	dead := deadAddress(t)
	usual := map[string]any{}
	for _, b := range badInputs(dead) {
		for key := range b.set {
			usual[key] = nil
		}
	}
	usual[keyServer] = r.model.BaseURL()
	usual[keyPerHour], usual[keyModel] = 600, scriptedModel
	r.findsFerry(t, discordtest.Args{})
	session := r.tasks(t)[0].SessionID // each of these blunders begins another one, if it gets so far
	for _, b := range badInputs(dead) {
		t.Run(b.name, func(t *testing.T) {
			r.setScript(b.say)
			r.updateSettings(b.set)
			m := b.do(t, r)
			said := strings.ReplaceAll(m.Content, `\`, "") // as people see it
			t.Log(said)
			checkPlainWords(t, said, b.want)
			if n := strings.Count(said, "did not work"); n > 1 {
				t.Errorf("it was said %d times that it did not work", n)
			}
			if len(m.Buttons()) > 0 {
				t.Error("there is still a button to stop")
			}
			r.updateSettings(usual)
			r.findsFerry(t, discordtest.Args{"session": session})
		})
	}
}

// findsFerry fails the test unless a task is done well.
func (r *serverFixture) findsFerry(t *testing.T, args discordtest.Args) {
	t.Helper()
	args["task"] = "find the ferry"
	r.setScript([]llmtest.Turn{openPage(r.site.URL), answering("The %s.", `ferry at 10:40`)})
	if got := r.command(t, r.ada, args).Content; firstOutputLine(got) != "The ferry at 10:40." {
		t.Errorf("the next task is answered with %q", got)
	}
}
