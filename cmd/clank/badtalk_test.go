package main

import (
	"testing"

	"clank/internal/discordtest"
	"clank/llm/llmtest"
)

// blunder is what somebody does in Discord that cannot go well.
type blunder struct {
	name string
	set  map[string]any
	say  []llmtest.Turn // what the model says
	do   func(t *testing.T, r *range_) discordtest.Message
	want []string // what they must be told
}

func blunders(dead string) []blunder {
	browse := func(args discordtest.Args) func(*testing.T, *range_) discordtest.Message {
		return func(t *testing.T, r *range_) discordtest.Message { return r.command(t, r.ada, args) }
	}
	mention := func(text string) func(*testing.T, *range_) discordtest.Message {
		return func(t *testing.T, r *range_) discordtest.Message { return r.mention(t, r.ada, text) }
	}
	task := browse(discordtest.Args{"task": "find the ferry"})
	brain := map[string]any{keyBrain: "compatible:talker"}
	hour := "agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour"
	return []blunder{
		{name: "unknown session", do: browse(discordtest.Args{"task": "find the ferry", "session": "nosuch"})},
		{name: "last session without one", do: browse(discordtest.Args{"task": "find the ferry", "session": "last"})},
		{name: "session of somebody else", do: intrude},
		{name: "empty task", do: browse(discordtest.Args{"task": "  "})},
		{name: "browsing switched off", set: map[string]any{"agentStack.runtimeConfig.browser.enabled": false}, do: task},
		{name: "no browses left", set: map[string]any{hour: 0}, do: task},
		{name: "page refuses connections", say: []llmtest.Turn{openPage("http://" + dead), llmtest.Say("It refuses the connection.")}, do: task},
		{name: "wrong key", say: []llmtest.Turn{llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: sk-...6789")}, do: task},
		{name: "no such model", say: []llmtest.Turn{llmtest.Fail(404, "model_not_found", "no such model")}, do: task},
		{name: "no server", set: map[string]any{keyServer: "http://" + dead + "/v1"}, do: task},
		{name: "useless model", say: []llmtest.Turn{call("browser_open", `{`), call("browser_fly", `{}`), call("browser_open", `{}`)}, do: task},
		{name: "model is cut off", say: []llmtest.Turn{cutOff}, do: task},
		{name: "mention without words", do: mention("")},
		{name: "brain: mention without words", set: brain, do: mention("")},
		{name: "brain: wrong key", set: brain, say: []llmtest.Turn{llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided")}, do: mention("hello")},
		{name: "brain: no such model", set: brain, say: []llmtest.Turn{llmtest.Fail(404, "model_not_found", "no such model")}, do: mention("hello")},
		{name: "brain: no server", set: map[string]any{keyBrain: "compatible:talker", keyServer: "http://" + dead + "/v1"}, do: mention("hello")},
		{name: "brain: cut off", set: brain, say: []llmtest.Turn{cutOff}, do: mention("hello")},
		{name: "brain: broken calls", set: brain, say: []llmtest.Turn{
			call("browser_browse", `{"query`), call("browser_fly", `{}`), call("browser_browse", `{}`),
		}, do: mention("find the ferry")},
		{name: "brain: the browser's model fails", set: brain, say: []llmtest.Turn{
			call("browser_browse", `{"query":"find the ferry"}`), llmtest.Fail(404, "model_not_found", "no such model"),
			func(req llmtest.Request) llmtest.Reply { return llmtest.Say("I was told: " + req.LastText())(req) },
		}, do: mention("find the ferry")},
		{name: "no brain: the browser's model fails", say: []llmtest.Turn{llmtest.Fail(404, "model_not_found", "no such model")}, do: mention("find the ferry")},
	}
}

var cutOff = llmtest.Misbehave("so far so good, and on it goes", llmtest.Fault{Cut: llmtest.CutReset, At: 3})

// intrude lets bob go on in ada's session.
func intrude(t *testing.T, r *range_) discordtest.Message {
	t.Helper()
	r.script([]llmtest.Turn{openPage(r.site.URL), llmtest.Say("open")})
	r.command(t, r.ada, discordtest.Args{"task": "open the page"})
	bob := r.discord.CreateUser("bob")
	r.discord.AddMember(r.guild, bob)
	return r.command(t, bob, discordtest.Args{"task": "read it", "session": r.tasks(t)[0].SessionID})
}

func TestBadInputInDiscordIsToldClearlyAndTheNextTaskWorks(t *testing.T) {
	r := newRange(t)
	dead := deadAddress(t)
	usual := map[string]any{}
	for _, b := range blunders(dead) {
		for key := range b.set {
			usual[key] = nil
		}
	}
	usual[keyServer] = r.model.BaseURL()
	usual["agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour"] = 600
	for _, b := range blunders(dead) {
		t.Run(b.name, func(t *testing.T) {
			r.script(b.say)
			r.configure(b.set)
			m := b.do(t, r)
			t.Log(m.Content)
			r.configure(usual)
			r.script([]llmtest.Turn{openPage(r.site.URL), answering("The %s.", `ferry at 10:40`)})
			if got := r.command(t, r.ada, discordtest.Args{"task": "find the ferry"}).Content; firstLine(got) != "The ferry at 10:40." {
				t.Errorf("the next task is answered with %q", got)
			}
		})
	}
	valid(t, r.model)
}
