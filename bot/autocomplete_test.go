package bot_test

import (
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/watches"
	"clank/sessions"
)

// choices are what the operator lets people choose.
type choices struct{}

func (choices) Models() []string { return []string{"plain:steps", "openai:gpt-6-sol", "gemini:pro"} }

func (choices) Profiles(o sessions.Origin) []string {
	return append([]string{"clank"}, o.Roles...)
}

// completed returns the values that Discord shows to somebody who types.
func (s *stage) completed(who discordtest.User, path, option string, args discordtest.Args) []string {
	s.t.Helper()
	it, err := s.Complete(s.room, who, path, option, args)
	check.Must(s.t, err)
	it, err = s.WaitAnswer(s.ctx(), it)
	check.Must(s.t, err)
	values := []string{}
	for _, c := range it.Choices {
		values = append(values, c.Value.(string))
	}
	return values
}

func TestWhatSomebodyTypesIsCompleted(t *testing.T) {
	s := newStage(t)
	s.bot.Choices = choices{}
	s.bot.Watches = &watched{list: []watches.Watch{
		{ID: "w1", URL: "https://example.com", Origin: sessions.Origin{Guild: s.guild.ID}},
		{ID: "w2", URL: "https://example.net", Origin: sessions.Origin{Guild: "5"}},
	}}
	at := func(u discordtest.User, private bool, channel string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: channel, User: u.ID, Private: private}
	}
	s.tasks.sessions = []sessions.Session{
		{
			ID: "bcdf23", Origin: at(s.ada, false, s.room.ID), Title: strings.Repeat("Lamps ", 40),
			URL: "https://shop.example/lamps",
		},
		{ID: "hidden", Origin: at(s.ada, true, s.room.ID), Title: "Lamps in private"},
		{ID: "faraway", Origin: at(s.ada, false, "5"), Title: "Lamps elsewhere"},
		{ID: "bobs", Origin: at(s.bob, false, s.room.ID), Title: "Lamps of Bob"},
	}
	s.open()
	for name, c := range map[string]struct {
		path, option string
		args         discordtest.Args
		want         []string
	}{
		"own sessions here": {"clank browse", "session", discordtest.Args{"session": ""}, []string{"bcdf23"}},
		"by title":          {"clank browse", "session", discordtest.Args{"session": "LAMPS"}, []string{"bcdf23"}},
		"private in private": {
			"clank browse", "session",
			discordtest.Args{"session": "private", "private": true},
			[]string{"hidden"},
		},
		"nothing fits": {"clank browse", "session", discordtest.Args{"session": "table"}, []string{}},
		"models":       {"clank browse", "model", discordtest.Args{"model": ""}, choices{}.Models()},
		"beginnings come first": {
			"clank browse", "model",
			discordtest.Args{"model": "p"},
			[]string{"plain:steps", "openai:gpt-6-sol", "gemini:pro"},
		},
		"profiles of the person": {"clank browse", "profile", discordtest.Args{"profile": ""}, []string{"clank"}},
		"watches of this server": {"clank watches", "end", discordtest.Args{"end": "example"}, []string{"w1"}},
	} {
		check.Diff(t, name, s.completed(s.ada, c.path, c.option, c.args), c.want)
	}
}

func TestWhoIsShutOutIsCompletedNothing(t *testing.T) {
	s := newStage(t)
	s.bot.Choices = choices{}
	s.host.disabled = func(o sessions.Origin) string { return "not you" }
	s.open()
	if got := s.completed(s.ada, "clank browse", "model", discordtest.Args{"model": ""}); len(got) > 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestOptionsOfBrowseReachTheTask(t *testing.T) {
	s := newStage(t)
	s.bot.Choices, s.bot.Window = choices{}, true
	s.open()
	s.browse(s.ada, discordtest.Args{
		"task": "read", "url": "shop.example/lamps", "model": "openai:gpt-6-sol", "budget": 0.25, "headed": true,
		"profile": "work",
	})
	k := s.next()
	want := sessions.Task{
		Prompt: "open https://shop.example/lamps\nread", Model: "openai:gpt-6-sol", MaxUSD: 0.25, Headed: true,
		Profile: "work", Typed: true,
	}
	got := k.Task
	got.Origin = sessions.Origin{}
	check.Diff(t, "choices", got, want)
	k.done("read")
	it := s.browse(s.ada, discordtest.Args{"task": "read", "url": "javascript:alert(1)"})
	s.answer(it, "Url needs the address of a web page")
	check.Fails(t,
		check.Err(s.SlashCommand(s.room, s.ada, "clank browse", discordtest.Args{"task": "x", "budget": -1.0})), nil, `"budget": float64 -1 does not fit`)
}
