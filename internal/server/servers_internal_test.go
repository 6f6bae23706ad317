package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/browsermgr/profile"
	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/discord"
	"clank/voice/share"
)

// openTestServer opens a server with models, and with the given address of Discord. Its state is in dir.
func openTestServer(t *testing.T, dir, discord string) *Server {
	t.Helper()
	return openTestServerWith(t, dir, discord, false)
}

// openTestServerWith opens one that may store nothing.
func openTestServerWith(t *testing.T, dir, discord string, ephemeral bool) *Server {
	t.Helper()
	vars := map[string]string{
		"CLANK_HOME": dir, "OPENAI_API_KEY": "sk-1", "CLANK_DISCORD_API": discord, NoSandboxEnv: "1",
	}
	getenv := func(name string) string { return vars[name] }
	h, err := OpenHome(getenv)
	check.Must(t, err)
	a, err := Open(t.Context(), h, Options{
		Getenv: getenv, Logger: slog.New(slog.DiscardHandler), AbortContext: t.Context(), ShopAddr: "127.0.0.1:0",
		Ephemeral: ephemeral,
	})
	check.Must(t, err)
	return a
}

func TestWhoStoresNothingHasTheBudgetOfTheHome(t *testing.T) {
	dir := t.TempDir()
	owner := openTestServer(t, dir, "")
	defer func() { check.Must(t, owner.Close(t.Context())) }()
	_, _, err := owner.Settings.Update(t.Context(),
		map[string]json.RawMessage{"agentStack.runtimeConfig.budget.day": json.RawMessage(`"2 calls"`)}, "")
	check.Must(t, err)
	call := budget.Estimate{Model: "openai:gpt"}
	held, err := owner.budget.Hold(t.Context(), call)
	check.Must(t, err)
	guest := openTestServerWith(t, dir, "", true)
	defer func() { check.Must(t, guest.Close(t.Context())) }()
	check.Must(t, guest.budget.Spend(t.Context(), call, func(context.Context) (llm.Usage, time.Duration, error) {
		return llm.Usage{Calls: 1, InputTokens: 1}, 0, nil
	}))
	for _, k := range map[string]*budget.Enforcer{"owner": owner.budget, "guest": guest.budget} {
		check.Fails(t, k.Check(t.Context(), call), nil, "2 of 2 calls")
	}
	held.Release(t.Context())
	check.Must(t, owner.budget.Check(t.Context(), call))
}

// setGuild changes settings of a server, as its managers do.
func setGuild(t *testing.T, a *Server, guild string, values map[string]string) {
	t.Helper()
	changes := map[string]json.RawMessage{}
	for key, v := range values {
		changes[key] = json.RawMessage(v)
	}
	check.Must(t, a.Settings.UpdateGuild(t.Context(), guild, changes, a.Settings.Guild(guild).Version))
}

const (
	guildOne, guildTwo = "100000000000000001", "100000000000000002"
	roomOne, threadOne = "200000000000000001", "200000000000000002"
	helperRole         = "300000000000000001"
)

// onGuild is a person with the role of helpers in a channel of a server.
func onGuild(guild string) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.FromDiscord, Guild: guild, Channel: roomOne, User: "42",
		Roles: []string{helperRole},
	}
}

func TestTheLocalVoiceSpeaksTheLanguageOfTheServer(t *testing.T) {
	for _, tt := range []struct {
		set    string
		loc    i18n.Locale
		name   string
		speaks i18n.Locale
	}{
		{"", "", "en", "en"},
		{"", "en-GB", "en", "en"},
		{"", "pt-BR", "pt-br", "pt-BR"},
		{"", "es-419", "es", "es"},
		{"", "nl", "en", "en"},
		{"de+f3", "en-US", "de+f3", "de"},
		{"en-gb", "ja", "en-gb", "en"},
	} {
		if name, speaks := localVoice(tt.set, tt.loc); name != tt.name || speaks != tt.speaks {
			t.Errorf("%q on a server with %q: voice %q speaks %q, want %q and %q", tt.set, tt.loc, name, speaks, tt.name,
				tt.speaks)
		}
	}
}

func TestWhatIsSetForAServerHoldsForAllThatIsAskedThere(t *testing.T) {
	t.Parallel()
	a := openTestServer(t, t.TempDir(), "")
	t.Cleanup(func() { check.Must(t, a.Close(context.WithoutCancel(t.Context()))) })
	_, _, err := a.Settings.Update(t.Context(), map[string]json.RawMessage{
		"interaction.access.models":             json.RawMessage(`"openai:gpt-6-luna"`),
		"agentStack.runtimeConfig.budget.guild": json.RawMessage(`"5 USD"`),
		"interaction.voice.keepTranscripts":     json.RawMessage(`true`),
		"interaction.language":                  json.RawMessage(`"fr"`),
	}, "")
	check.Must(t, err)
	task := func(guild string) sessions.Task { return sessions.Task{Origin: onGuild(guild), Prompt: "look"} }
	model := func(t sessions.Task) string {
		_, name, err := a.Route(t)
		return name + errorText(err)
	}
	profileOf := func(o sessions.Origin, private bool, has string) string {
		name, err := a.SelectProfile(o, o.Place(private), has)
		return name + errorText(err)
	}
	limit := func(guild string) budget.Amount {
		all, err := a.budget.Status(t.Context(), agent.PersonAccount(onGuild(guild), "browse"))
		check.Must(t, err)
		return all[slices.IndexFunc(all, func(l budget.LevelStatus) bool { return l.Key.Level == budget.LevelGuild })].Limit
	}
	usual := model(task(guildTwo))
	setGuild(t, a, guildOne, map[string]string{
		settings.ServerChannels: `"` + roomOne + `"`, settings.ServerRoles: `"` + helperRole + `"`,
		settings.ServerModel:  `"openai:gpt-6-luna"`,
		settings.ServerBudget: `"2 USD, 30 calls"`, settings.ServerIsolation: `"person"`, settings.ServerLanguage: `"de"`,
	})
	setGuild(t, a, guildTwo, map[string]string{settings.ServerBudget: `"1 calls"`, settings.ServerPrivate: "true"})

	goesOn, asked := task(guildOne), task(guildOne)
	goesOn.Runtime = browseagent.Runtime // as a session that goes on has it
	asked.Model = "plain:steps"
	elsewhere, stranger, inThread := onGuild(guildOne), onGuild(guildOne), onGuild(guildOne)
	elsewhere.Channel, stranger.Roles = threadOne, nil
	inThread.Channel, inThread.Parent = threadOne, roomOne
	calls := &CallService{Settings: a.Settings, joiner: &discord.Joiner{}}
	inCall := func(guild string) sessions.Origin {
		line := conversation.Location{Kind: sessions.FromDiscord, Guild: guild, Channel: roomOne}
		return callHost{service: calls, place: line}.Origin(voice.Person{ID: "42"})
	}
	for what, got := range map[string][2]any{
		"the model":                  {model(task(guildOne)), "openai:gpt-6-luna"},
		"the model of the next task": {model(goesOn), "openai:gpt-6-luna"},
		"a model that is asked for":  {model(asked), "plain:steps"},
		"the model elsewhere":        {model(task(guildTwo)), usual},
		"the model of the operator":  {model(sessions.Task{Origin: TerminalOrigin(), Prompt: "look"}), usual},
		"where and who":              {a.AccessRefusal(onGuild(guildOne)), ""},
		"a thread":                   {a.AccessRefusal(inThread), ""},
		"another channel":            {strings.Contains(a.AccessRefusal(elsewhere), "other channels"), true},
		"nobody with a role":         {strings.Contains(a.AccessRefusal(stranger), "roles"), true},
		"another channel elsewhere": {
			a.AccessRefusal(sessions.Origin{Kind: sessions.FromDiscord, Guild: guildTwo, Channel: threadOne}), "",
		},
		"the browser": {profileOf(onGuild(guildOne), false, ""), "clank@person-42at" + guildOne},
		"the browser of a session": {
			profileOf(onGuild(guildOne), false, "clank@person-42at"+guildOne),
			"clank@person-42at" + guildOne,
		},
		"the browser of the server": {strings.Contains(profileOf(onGuild(guildOne), false, "clank@server-"+guildOne),
			"start a new session"), true},
		"the browser of another": {strings.Contains(profileOf(onGuild(guildOne), false, "clank@person-43at"+guildOne),
			"belongs to"), true},
		"the browser in private":         {profileOf(onGuild(guildOne), true, ""), "clank@person-42"},
		"the browser elsewhere":          {profileOf(onGuild(guildTwo), false, ""), "clank@server-" + guildTwo},
		"what may be spent":              {limit(guildOne), budget.Amount{Money: budget.Dollars(2), Calls: 30}},
		"what may be spent elsewhere":    {limit(guildTwo), budget.Amount{Money: budget.Dollars(5), Calls: 1}},
		"what may be spent on no server": {limit("100000000000000003"), budget.Amount{Money: budget.Dollars(5)}},
		"transcripts":                    {calls.keepsTranscripts(guildOne), true},
		"transcripts elsewhere":          {calls.keepsTranscripts(guildTwo), false},
		"privacy in calls":               {inCall(guildOne).Private, false},
		"privacy in calls elsewhere":     {inCall(guildTwo).Private, true},
		"the language":                   {a.Settings.For(guildOne).Language, "de"},
		"the language elsewhere":         {a.Settings.For(guildTwo).Language, "fr"},
	} {
		check.Equal(t, what, got[0], got[1])
	}

	// A page of somebody's own browser can be shared on its server, and nowhere else.
	shared := sessions.Session{Origin: onGuild(guildOne), Profile: "clank@person-42at" + guildOne}
	host := shareHost{&CallService{Sessions: a.Sessions}}
	check.Must(t, host.CheckShare(onGuild(guildOne), shared))
	if host.CheckShare(onGuild(guildTwo), shared) == nil {
		t.Error("it is shared on another server")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAServerMayNotAllowItselfMoreThanTheOperatorDoes(t *testing.T) {
	t.Parallel()
	a := openTestServer(t, t.TempDir(), "")
	t.Cleanup(func() { check.Must(t, a.Close(context.WithoutCancel(t.Context()))) })
	for text, ok := range map[string]bool{
		"9 USD": true, "11 USD": false, "1 USD, 99999999999 tokens": false,
		"700 talk-minutes": false, "50 calls": true,
	} {
		err := a.Settings.UpdateGuild(t.Context(), guildOne,
			map[string]json.RawMessage{settings.ServerBudget: json.RawMessage(`"` + text + `"`)},
			a.Settings.Guild(guildOne).Version)
		if _, invalid := errors.AsType[*settings.InvalidError](err); invalid == ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheDataOfAServerIsDeletedWithIt(t *testing.T) {
	t.Parallel()
	d, err := discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, d.Close()) })
	owner := d.CreateUser("owner")
	account, another := d.CreateBot("clank", "secret"), d.CreateBot("another", "other")
	guilds := map[string]discordtest.Guild{}
	for _, name := range []string{"stays", "is left", "is left while clank is off", "has another bot"} {
		guilds[name] = d.CreateGuild(name, owner)
		d.AddMember(guilds[name], account.User)
	}
	d.AddMember(guilds["has another bot"], another.User)
	dir := t.TempDir()
	files := func(g discordtest.Guild) []string {
		return []string{
			filepath.Join(dir, "downloads", "clank@person-42at"+g.ID), filepath.Join(dir, "downloads", "clank@server-"+g.ID),
			filepath.Join(dir, inboundFolder, "clank@server-"+g.ID),
			filepath.Join(dir, "browser", "clank@server-"+g.ID, "user-data"),
			filepath.Join(dir, "browser", "clank@person-42at"+g.ID, profile.PackName),
		}
	}
	run := func(token string, do func(a *Server)) {
		a := openTestServer(t, dir, d.URL)
		check.Must(t, a.OpenCalls(t.Context(), "127.0.0.1:0"))
		secret, err := settings.ReadSecret("DISCORD_TOKEN", func(name string) string {
			return map[string]string{"DISCORD_TOKEN": token}[name]
		})
		check.Must(t, err)
		if how, _ := a.ConnectBot(t.Context(), secret); !strings.HasPrefix(how, "connected") {
			t.Error(how)
		}
		do(a)
		check.Must(t, a.Close(context.WithoutCancel(t.Context())))
	}
	awaitState := func(a *Server, want map[string]bool) {
		t.Helper()
		browsertest.Eventually(t, "what is kept of servers", func() bool {
			for name, kept := range want {
				g := guilds[name]
				if (a.Settings.For(g.ID).Language == "de") != kept {
					return false
				}
				for _, dir := range files(g) {
					if _, err := os.Stat(dir); (err == nil) != kept {
						return false
					}
				}
			}
			return true
		})
	}
	run("secret", func(a *Server) {
		for _, g := range guilds {
			setGuild(t, a, g.ID, map[string]string{settings.ServerLanguage: `"de"`})
			for _, dir := range files(g) {
				check.Must(t, os.MkdirAll(dir, 0o700))
			}
		}
		d.RemoveMember(guilds["is left"], account.User)
		awaitState(a, map[string]bool{"is left": false, "stays": true})
	})
	d.RemoveMember(guilds["is left while clank is off"], account.User)
	run("other", func(a *Server) { // is on one of them only
		awaitState(a, map[string]bool{"has another bot": true, "is left while clank is off": true, "stays": true})
	})
	run("secret", func(a *Server) {
		awaitState(a, map[string]bool{
			"has another bot": true, "is left while clank is off": false, "stays": true,
			"is left": false,
		})
	})
}

// TestSettingsReachTheComponentsTheyControl changes settings while the program runs, and checks the component of
// each.
func TestSettingsReachTheComponentsTheyControl(t *testing.T) {
	t.Parallel()
	a := openTestServer(t, t.TempDir(), "")
	t.Cleanup(func() { check.Must(t, a.Close(context.WithoutCancel(t.Context()))) })
	control, err := a.OpenControl(t.Context(), "127.0.0.1:0")
	check.Must(t, err)
	check.Must(t, a.OpenCalls(t.Context(), "127.0.0.1:0"))
	const browserKeys, toolKeys = "agentStack.runtimeConfig.browser.", "interaction.tool.browser."
	for key, tt := range map[string]struct {
		value  string
		effect func() any
		want   any
	}{
		toolKeys + "vision.model": {
			`"openai:gpt-4o"`, func() any { return a.models.Settings.Current().Vision.Model },
			"openai:gpt-4o",
		},
		toolKeys + "vision.prompt": {`"Say it briefly."`, func() any {
			return a.models.Settings.Current().Vision.Prompt
		}, "Say it briefly."},
		toolKeys + "vision.maxBytes":    {"20000", func() any { return a.models.Settings.Current().Vision.MaxBytes }, 20000},
		browserKeys + "actionTimeoutMs": {"7000", func() any { return control.Settings.ActionTimeout() }, 7 * time.Second},
		browserKeys + "evaluateEnabled": {"false", func() any { return control.Settings.EvaluateEnabled() }, false},
		browserKeys + "profile":         {`"work"`, func() any { return profileOfTerminal(a) }, "work"},
		browserKeys + "openaiComputerUse.client": {`"openai"`, func() any {
			_, _, err := a.Route(sessions.Task{
				Runtime: settings.RuntimeOpenAI, Model: "compatible:mine",
				Origin: TerminalOrigin(),
			})
			return err != nil && strings.Contains(err.Error(), "works with models of openai, not")
		}, true},
		browserKeys + "localBrowserAgent.stepTimeoutMs": {
			"9000", func() any { return a.agentSettings().StepTimeout },
			9 * time.Second,
		},
		browserKeys + "localBrowserAgent.maxStepsPerTask": {"3", func() any {
			return a.computerUseSettings(settings.RuntimeOpenAI).MaxSteps
		}, 3},
		"interaction.share.linkLifetimeMs": {"600000", func() any {
			_, link := a.CallService.shareLinks.Issue(share.Link{Share: "s"})
			return time.Until(link.Until).Round(time.Minute)
		}, 10 * time.Minute},
		"interaction.brain.instructions": {`"Speak like a sailor."`, func() any {
			return strings.Contains(a.CallService.Assistant.StandingInstructions(""), "Speak like a sailor.")
		}, true},
		browserKeys + "enabled": {"false", func() any { return assistantHost{a, a.CallService}.Disabled() != "" }, true},
	} {
		if got := tt.effect(); got == tt.want {
			t.Errorf("%s: it is %v before", key, got)
		}
		change := map[string]json.RawMessage{key: json.RawMessage(tt.value)}
		_, _, err := a.Settings.Update(t.Context(), change, a.Settings.State().Version)
		check.Must(t, err)
		check.Equal(t, key, tt.effect(), tt.want)
	}
}

// profileOfTerminal returns the browser profile of tasks from a terminal.
func profileOfTerminal(a *Server) string {
	o := TerminalOrigin()
	name, err := a.SelectProfile(o, o.Place(false), "")
	return name + errorText(err)
}

func TestEachModelIsOfferedOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ own, listed, want string }{
		{"plain:steps", "compatible:small", "plain:steps compatible:small"},
		{"openai:a", "openai:z openai:a anthropic:b openai:z", "openai:a anthropic:b openai:z plain:steps"},
		{"", "openai:a", "openai:a plain:steps"},
	} {
		s := settings.Settings{AgentModel: tt.own}
		s.Access.Models = tt.listed
		check.Equal(t, fmt.Sprintf("%q and %q", tt.own, tt.listed), strings.Join(choosableModels(s), " "), tt.want)
	}
}
