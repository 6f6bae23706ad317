package bot_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/sqlitetest"
)

// serverSettings gives the stage settings of servers, and returns a manager of the server.
func (s *stage) serverSettings() (*settings.Manager, discordtest.User) {
	s.t.Helper()
	db := sqlitetest.Open(s.t)
	m := &settings.Manager{
		Store: db, Guilds: db, Log: slog.New(slog.DiscardHandler),
		ServerModels: func(settings.Settings) []string { return []string{"openai:small"} },
	}
	check.Must(s.t, m.Open(s.t.Context()))
	s.bot.Settings = m
	chief := s.CreateUser("chief")
	s.AddMember(s.guild, chief, s.CreateRole(s.guild, "chiefs", discordtest.ManageGuild))
	return m, chief
}

// set uses something that /clank setup shows, and returns the message after that.
func (s *stage) set(it discordtest.Interaction, err error, want string) discordtest.Message {
	s.t.Helper()
	check.Must(s.t, err)
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool {
		return i.Answer != 0 && strings.Contains(i.Text(), want)
	})
	if err != nil {
		now, _ := s.Interaction(it.ID)
		s.t.Fatalf("%v; it says %q, want %q", err, now.Text(), want)
	}
	return *got.Original
}

func TestManagersSetTheirServerUp(t *testing.T) {
	s := newStage(t)
	m, chief := s.serverSettings()
	s.open()
	refused, err := s.WaitAnswer(s.ctx(), s.command(s.ada, "setup", nil))
	check.Must(t, err)
	if !strings.Contains(refused.Text(), "Only people who may manage this server") || !refused.Ephemeral {
		t.Errorf("ada was told %q", refused.Text())
	}
	role := s.CreateRole(s.guild, "helpers", 0)
	shown := s.set(s.command(chief, "setup", nil), nil, "Channels: all")
	if shown.ViewerID != chief.ID {
		t.Error("others see it, too")
	}
	choose := func(key string, values ...string) (discordtest.Interaction, error) {
		return s.Choose(shown, chief, "clank:setup:"+key, values...)
	}
	press := func(key string) (discordtest.Interaction, error) {
		return s.PressButton(shown, chief, "clank:setup:"+key)
	}
	it, err := choose(settings.ServerChannels, s.room.ID)
	shown = s.set(it, err, "Channels: <#"+s.room.ID+">")
	it, err = choose(settings.ServerRoles, role.ID)
	shown = s.set(it, err, "Roles: <@&"+role.ID+">")
	it, err = choose(settings.ServerModel, "openai:small")
	shown = s.set(it, err, "Model: openai")
	it, err = choose(settings.ServerLanguage, "de")
	shown = s.set(it, err, "Language: Deutsch")
	it, err = press(settings.ServerIsolation)
	shown = s.set(it, err, "Browser: One for each person")
	it, err = press(settings.ServerPrivate)
	shown = s.set(it, err, "Private answers: on")
	form := func(text string) (discordtest.Interaction, error) {
		opened, err := press(settings.ServerBudget)
		check.Must(t, err)
		opened, err = s.WaitInteraction(s.ctx(), opened, func(i discordtest.Interaction) bool { return i.Modal != nil })
		check.Must(t, err)
		return s.SubmitModal(opened, map[string]string{settings.ServerBudget: text})
	}
	it, err = form("a lot")
	shown = s.set(it, err, "This cannot be set")
	it, err = form("2 USD")
	shown = s.set(it, err, "Budget: 2 USD")
	want := settings.Server{
		Channels: s.room.ID, Roles: role.ID, Model: "openai:small", Language: "de", Isolation: settings.IsolationPerson,
		Private: true, Budget: "2 USD",
	}
	check.Equal(t, "set", m.For(s.guild.ID).Server, want)
	for _, c := range shown.Components {
		if i := slices.IndexFunc(c.Components, func(c discordtest.Component) bool {
			return c.Type == discordtest.ChannelSelect
		}); i >= 0 {
			if got := c.Components[i].Defaults; len(got) != 1 || got[0].ID != s.room.ID {
				t.Errorf("the menu shows %+v", got)
			}
		}
	}
	it, err = choose(settings.ServerChannels)
	s.set(it, err, "Channels: all")
}

func TestMembersCannotSetUpByAMenuTheySee(t *testing.T) {
	s := newStage(t)
	m, chief := s.serverSettings()
	s.open()
	shown := s.set(s.command(chief, "setup", nil), nil, "Channels: all")
	s.RemoveRoles(s.guild, chief)
	it, err := s.PressButton(shown, chief, "clank:setup:"+settings.ServerPrivate)
	check.Must(t, err)
	s.answer(it, "Only people who may manage this server")
	if m.For(s.guild.ID).Server.Private {
		t.Error("it was set all the same")
	}
}

func TestPrivateServersAnswerThoseWhoAskAlone(t *testing.T) {
	s := newStage(t)
	m, chief := s.serverSettings()
	s.plainBrain()
	s.open()
	shown := s.set(s.command(chief, "setup", nil), nil, "Private answers: off")
	it, err := s.PressButton(shown, chief, "clank:setup:"+settings.ServerPrivate)
	s.set(it, err, "Private answers: on")
	if !m.For(s.guild.ID).Server.Private {
		t.Fatal("it is not set")
	}
	asked, k := s.lamps()
	k.done("for ada")
	if got := s.answer(asked, "for ada"); !got.Ephemeral || !k.Origin.Private {
		t.Errorf("everybody sees it: %+v", k.Origin)
	}
	s.say(s.room, s.ada, s.account.Mention()+" find a lamp")
	k = s.next()
	if !k.Origin.Private {
		t.Errorf("the task is not private: %+v", k.Origin)
	}
	k.done("in private")
	s.message(s.OpenDM(s.ada, s.account), "in private")
	s.unseen(s.room, "in private")
}

func TestWhatIsSetUpIsToldInEveryLanguage(t *testing.T) {
	s := newStage(t)
	m, _ := s.serverSettings()
	for _, f := range m.Guild(s.guild.ID).Fields {
		texts := []string{f.Label, f.FormatValue(settings.Settings{})}
		if f.Kind == settings.KindChoice && f.Key != settings.ServerLanguage {
			texts = texts[:1]
			for _, o := range f.Options {
				texts = append(texts, o.Label)
			}
		}
		for _, text := range texts {
			if text != "empty" && text != "openai:small" && len(i18n.Translations(text)) != len(i18n.Languages())-1 {
				t.Errorf("%s: %q is not there in every language", f.Key, text)
			}
		}
	}
}

func TestAManagerOfOneServerSetsNothingOnAnother(t *testing.T) {
	s := newStage(t)
	m, chief := s.serverSettings()
	other := s.CreateGuild("other", s.CreateUser("another owner"))
	lead := s.CreateUser("lead")
	s.AddMember(other, s.account.User)
	s.AddMember(other, chief)
	s.AddMember(other, lead, s.CreateRole(other, "leads", discordtest.ManageGuild))
	room := s.CreateChannel(other, "room")
	s.open()
	setup := func(who discordtest.User, want string) discordtest.Message {
		it, err := s.SlashCommand(room, who, "clank setup", nil)
		return s.set(it, err, want)
	}
	setup(chief, "Only people who may manage this server")
	chiefs := s.set(s.command(chief, "setup", nil), nil, "Language: As the operator has set")
	leads := setup(lead, "Language: As the operator has set")
	it, err := s.Choose(chiefs, chief, "clank:setup:"+settings.ServerLanguage, "de")
	s.set(it, err, "Language: Deutsch")
	it, err = s.Choose(leads, lead, "clank:setup:"+settings.ServerLanguage, "fr")
	s.set(it, err, "Language: Français")
	if one, two := m.For(s.guild.ID).Language, m.For(other.ID).Language; one != "de" || two != "fr" {
		t.Errorf("the servers have %q and %q", one, two)
	}
	// Discord lets nobody use it
	check.Fails(t, check.Err(s.Choose(leads, chief, "clank:setup:"+settings.ServerLanguage, "ja")),
		nil, "no such component")
	for _, public := range []struct {
		room discordtest.Channel
		want string
	}{{s.room, "Schritt 1: open"}, {room, "Étape 1 : open"}} {
		it, err := s.SlashCommand(public.room, chief, "clank browse", discordtest.Args{"task": "look"})
		check.Must(t, err)
		k := s.next()
		k.step("open", nil)
		s.answer(it, public.want)
		k.done("")
	}
}

func TestASetupWithManyChannelsAndRolesIsShown(t *testing.T) {
	s := newStage(t)
	m, chief := s.serverSettings()
	s.open()
	list := func(n int) json.RawMessage {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = strconv.Itoa(100_000_000_000_000_000 + i)
		}
		return json.RawMessage(strconv.Quote(strings.Join(ids, " ")))
	}
	check.Must(t, m.UpdateGuild(t.Context(), s.guild.ID, map[string]json.RawMessage{
		settings.ServerChannels: list(150),
		settings.ServerRoles:    list(150),
	}, "0"))
	if got := s.set(s.command(chief, "setup", nil), nil, "Channels: <#100000000000000000>"); strings.Count(got.Content,
		"and 125 more") != 2 {
		t.Errorf("it says %q", got.Content)
	}
}

func TestWhatTheOperatorSetsManagersCannot(t *testing.T) {
	s := newStage(t)
	m, chief := s.serverSettings()
	s.open()
	shown := s.set(s.command(chief, "setup", nil), nil, "Budget: As the operator has set")
	update := func(key, value string) {
		t.Helper()
		_, _, err := m.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(value)}, m.State().Version)
		check.Must(t, err)
	}
	openForm := func() discordtest.Interaction {
		it, err := s.PressButton(shown, chief, "clank:setup:"+settings.ServerBudget)
		check.Must(t, err)
		it, err = s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool { return i.Modal != nil })
		check.Must(t, err)
		return it
	}
	it, err := s.SubmitModal(openForm(), map[string]string{settings.ServerBudget: "11 USD"})
	s.set(it, err, "no more than the operator does")
	late := openForm()
	update("interaction.access.serverSettings", `"language"`)
	it, err = s.SubmitModal(late, map[string]string{settings.ServerBudget: "1 USD"})
	check.Must(t, err)
	s.answer(it, "The operator of this clank sets that.")
	it, err = s.PressButton(shown, chief, "clank:setup:"+settings.ServerPrivate)
	check.Must(t, err)
	s.answer(it, "The operator of this clank sets that.")
	if now := s.set(s.command(chief, "setup", nil), nil, "Language:"); strings.Contains(now.Content, "Budget") ||
		len(now.Components) != 1 {
		t.Errorf("it offers %q", now.Content)
	}
	update("interaction.access.serverSettings", `""`)
	s.set(s.command(chief, "setup", nil), nil, "sets everything")
	update("interaction.access.guilds", `"100000000000000009"`)
	s.set(s.command(chief, "setup", nil), nil, "not on the list")
	check.Equal(t, "set", m.For(s.guild.ID).Server, settings.Server{})
}
