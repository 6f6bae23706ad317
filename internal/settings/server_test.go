package settings_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/sessions"
)

func TestWhatIsSetForAServerHoldsThereAlone(t *testing.T) {
	db := sqlitetest.Open(t)
	openServers := func() *settings.Manager {
		m := &settings.Manager{
			Store: db, Guilds: db, Log: slog.New(slog.DiscardHandler),
			ServerModels: func(settings.Settings) []string { return []string{"openai:small"} },
		}
		check.Must(t, m.Open(t.Context()))
		return m
	}
	m := openServers()
	const one, two = "100000000000000001", "100000000000000002"
	set := func(guild string, values map[string]string) error {
		changes := map[string]json.RawMessage{}
		for key, v := range values {
			changes[key] = json.RawMessage(v)
		}
		return m.UpdateGuild(t.Context(), guild, changes, m.Guild(guild).Version)
	}
	check.Must(t, set(one, map[string]string{
		settings.ServerChannels: `"200000000000000001 200000000000000002"`, settings.ServerModel: `"openai:small"`,
		settings.ServerPrivate: "true", settings.ServerBudget: `"1 USD"`,
	}))
	check.Must(t, set(two, map[string]string{settings.ServerLanguage: `"de"`}))
	for _, m := range []*settings.Manager{m, openServers()} { // as it is, and after a restart
		first, second := m.For(one), m.For(two)
		if s := first.Server; s.Model != "openai:small" || !s.Private || s.Budget != "1 USD" || s.Language != "" ||
			first.Voice.KeepTranscripts {
			t.Errorf("the first server has %+v", s)
		}
		check.Equal(t, "the second server has", second.Server, settings.Server{Language: "de"})
		if m.Current() != m.For("100000000000000003") || m.Current().Server != (settings.Server{}) {
			t.Error("it holds elsewhere, too")
		}
	}
	for name, bad := range map[string]map[string]string{
		"an id that is none":       {settings.ServerRoles: `"everyone"`},
		"a model not to choose":    {settings.ServerModel: `"openai:large"`},
		"a budget that is none":    {settings.ServerBudget: `"much"`},
		"a setting of all servers": {keySteps: "20"},
		"half of it":               {settings.ServerLanguage: `"fr"`, settings.ServerIsolation: `"nobody"`},
	} {
		invalid, ok := errors.AsType[*settings.InvalidError](set(two, bad))
		if !ok || len(invalid.Fields) != 1 || m.For(two).Server.Language != "de" {
			t.Errorf("%s: %v, %+v", name, invalid, m.For(two).Server)
		}
	}
	check.Fails(t, m.UpdateGuild(t.Context(), two, nil, "0"), settings.ErrConflict)
	check.Must(t, m.ForgetGuild(t.Context(), one))
	check.Must(t, set(two, map[string]string{settings.ServerLanguage: "null"}))
	for _, m := range []*settings.Manager{m, openServers()} {
		if m.For(one).Server != (settings.Server{}) || m.For(two).Server != (settings.Server{}) {
			t.Errorf("it is still there: %+v, %+v", m.For(one).Server, m.For(two).Server)
		}
	}
}

func TestTheOperatorChoosesTheSettingsOfManagers(t *testing.T) {
	db := sqlitetest.Open(t)
	m := &settings.Manager{Store: db, Guilds: db, Log: slog.New(slog.DiscardHandler)}
	check.Must(t, m.Open(t.Context()))
	check.Equal(t, "at first they set", len(m.Guild("1").ManagerFields()), 7)
	const key = "interaction.access.serverSettings"
	_, version, err := m.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(`"roles language"`)}, "")
	check.Must(t, err)
	var keys []string
	for _, f := range m.Guild("1").ManagerFields() {
		keys = append(keys, f.Key)
	}
	if !slices.Equal(keys, []string{settings.ServerRoles, settings.ServerLanguage}) {
		t.Errorf("they set %v", keys)
	}
	_, _, err = m.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(`"password"`)}, version)
	if _, ok := errors.AsType[*settings.InvalidError](err); !ok {
		t.Errorf("a name that is none: %v", err)
	}
}

func TestTheListsOfAServer(t *testing.T) {
	s := settings.Server{Channels: "200000000000000001", Roles: "300000000000000001"}
	let := sessions.Origin{Guild: "1", Channel: "200000000000000001", Roles: []string{"300000000000000001"}}
	thread, elsewhere, stranger := let, let, let
	thread.Channel, thread.Parent = "200000000000000009", "200000000000000001"
	elsewhere.Channel = "200000000000000002"
	stranger.Roles = nil
	for name, c := range map[string]struct {
		who  sessions.Origin
		want string
	}{
		"listed": {let, ""}, "in a thread": {thread, ""}, "in another channel": {elsewhere, "other channels"},
		"without the role": {stranger, "roles that may use me"},
	} {
		check.Outcome(t, name, s.Check(c.who), c.want)
	}
	check.Must(t, (settings.Server{}).Check(stranger))
}
