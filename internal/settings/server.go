package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"clank/sessions"
	"clank/sessions/access"
)

// Server is the settings of one Discord server. Empty values inherit the operator's settings.
type Server struct {
	Channels  string // ids
	Roles     string // ids
	Model     string // "provider:model", one of those that may be chosen in Discord
	Budget    string // for all people of the server, per day
	Language  string // a Discord locale
	Isolation string // see the Isolation constants
	Private   bool
}

// Check returns nil if p may ask for anything on the server, otherwise a *[access.RefusedError]. The operator's rules
// apply as well.
func (s Server) Check(p sessions.Origin) error {
	channels, roles := readIDs(s.Channels), readIDs(s.Roles)
	switch {
	case s.Channels != "" && !slices.Contains(channels, p.Channel) && !slices.Contains(channels, p.Parent):
		return &access.RefusedError{Text: "those who manage this server have chosen other channels for me; they can add " +
			"this one with /clank setup"}
	case s.Roles != "" && !slices.ContainsFunc(roles, func(id string) bool { return slices.Contains(p.Roles, id) }):
		return &access.RefusedError{Text: "those who manage this server have chosen roles that may use me, and you have " +
			"none of them"}
	}
	return nil
}

// Values of [Server.Isolation].
const (
	IsolationServer = ""       // the people of a server share its browser
	IsolationPerson = "person" // each person has a separate one
)

// Keys of the settings of a server.
const (
	ServerChannels  = serverKeys + "channels"
	ServerRoles     = serverKeys + "roles"
	ServerModel     = serverKeys + "model"
	ServerBudget    = serverKeys + "budget"
	ServerLanguage  = serverKeys + "language"
	ServerIsolation = serverKeys + "isolation"
	ServerPrivate   = serverKeys + "privacy"

	serverKeys       = "server."
	everyServerField = "channels roles model budget language isolation privacy"
)

// serverTable lists the settings of a server.
var serverTable = inGroup("Discord server",
	ids(KindChannels, ServerChannels, "Channels", "clank works in these channels and their threads. None chosen: "+
		"in all that it sees.", &at.Server.Channels),
	ids(KindRoles, ServerRoles, "Roles", "Members with one of these roles may use clank. None chosen: everyone.",
		&at.Server.Roles),
	choice(ServerModel, "Model", "The model that reads pages and works the browser for this server.", "", &at.Server.Model,
		Option{"", asOperator}),
	text(ServerBudget, "Budget", `The most that everyone on this server may use in a day, such as "2 USD, 1000000 `+
		`tokens". The operator's limits hold, too.`, "", limitMaxLen, &at.Server.Budget).checked(parses(ParseLimit)),
	choice(ServerLanguage, "Language", "The language of what clank writes for everyone.", "", &at.Server.Language,
		append([]Option{{"", asOperator}}, languages...)...),
	choice(ServerIsolation, "Browser", "Whose cookies and logins a task works with.", IsolationServer,
		&at.Server.Isolation, Option{IsolationServer, "One for the whole server"},
		Option{IsolationPerson, "One for each person"}),
	toggle(ServerPrivate, "Private answers", "Only the person who asks sees a task, in a browser of their own. It is not "+
		"filmed, and what is said in calls is not kept.", false, &at.Server.Private),
)

// asOperator is shown for a value that a server inherits from the operator.
const asOperator = "As the operator has set"

// languages are the [i18n.Languages] with their native names.
var languages = []Option{
	{"en", "English"},
	{"de", "Deutsch"},
	{"fr", "Français"},
	{"es", "Español"},
	{"pt-BR", "Português do Brasil"},
	{"ja", "日本語"},
}

// ids returns a field of Discord ids separated by spaces.
func ids(kind FieldKind, key, label, effect string, at *string) Field {
	f := newField(kind, key, label, effect, "", at)
	f.MaxLen = longTextMax
	return f.checked(func(v string) error {
		if slices.Contains(readIDs(v), unreadableID) {
			return errors.New("must be ids of Discord")
		}
		return nil
	})
}

// checkServerFields checks a list of settings that managers may change.
func checkServerFields(v string) error {
	for name := range strings.FieldsSeq(v) {
		if !slices.Contains(strings.Fields(everyServerField), name) {
			return fmt.Errorf("must be some of %s, unlike %q", everyServerField, name)
		}
	}
	return nil
}

// GuildValues is what is stored for a server.
type GuildValues struct {
	Values  map[string]json.RawMessage
	Version int64
}

// GuildStore stores the settings of servers. Saving fails with [ErrConflict] unless the stored version is the one
// before that of v; the version of a server without stored settings is 0.
type GuildStore interface {
	LoadGuildSettings(ctx context.Context) (map[string]GuildValues, error)
	SaveGuildSettings(ctx context.Context, guild string, v GuildValues) error
	DeleteGuildSettings(ctx context.Context, guild string) error
}

// GuildState is the settings of one server at one moment. It must not be modified.
type GuildState struct {
	State
	Fields []Field // with the current choices
}

// openGuilds loads the stored settings. The caller holds the lock.
func (l *Manager) openGuilds(ctx context.Context) error {
	if l.Guilds == nil {
		return nil
	}
	all, err := l.Guilds.LoadGuildSettings(ctx)
	if err != nil {
		return fmt.Errorf("load the settings of servers: %w", err)
	}
	l.guilds.Store(&all)
	return nil
}

func (l *Manager) guildValues(guild string) GuildValues {
	if all := l.guilds.Load(); all != nil {
		return (*all)[guild]
	}
	return GuildValues{}
}

// For returns the effective settings of a server: the operator's, overridden by those of the server. It takes no
// lock.
func (l *Manager) For(guild string) Settings {
	if len(l.guildValues(guild).Values) == 0 {
		return l.Current()
	}
	return l.Guild(guild).Settings
}

// Guild returns the settings of a server. A stored value that is not valid (any more) is ignored, so that the
// operator's applies.
func (l *Manager) Guild(guild string) GuildState {
	kept := l.guildValues(guild)
	now := l.Current()
	st := GuildState{
		State:  State{Settings: now, Version: strconv.FormatInt(kept.Version, 10), Stored: kept.Values},
		Fields: l.serverFields(now),
	}
	for _, f := range st.Fields {
		raw, set := kept.Values[f.Key]
		if !set {
			continue
		}
		v, err := f.decode(raw, l.Providers)
		if err != nil {
			st.Problems = append(st.Problems, FieldError{Key: f.Key, Value: shortValue(raw), Why: err.Error()})
			continue
		}
		f.assign(&st.Settings, v)
	}
	s := &st.Settings
	s.Language = cmp.Or(s.Server.Language, s.Language)
	s.Voice.KeepTranscripts = s.Voice.KeepTranscripts && !s.Server.Private
	return st
}

// serverFields returns the table with the models that may be chosen under s.
func (l *Manager) serverFields(s Settings) []Field {
	fields := slices.Clone(serverTable)
	for i := range fields {
		if fields[i].Key == ServerModel && l.ServerModels != nil {
			fields[i].Options = slices.Clone(fields[i].Options)
			for _, name := range l.ServerModels(s) {
				fields[i].Options = append(fields[i].Options, Option{name, name})
			}
		}
	}
	return fields
}

// ManagerFields returns the fields that the server's managers may change.
func (g GuildState) ManagerFields() []Field {
	allowed := strings.Fields(g.Settings.Access.ServerFields)
	return slices.DeleteFunc(slices.Clone(g.Fields), func(f Field) bool {
		return !slices.Contains(allowed, strings.TrimPrefix(f.Key, serverKeys))
	})
}

// UpdateGuild changes the settings of a server, as [Manager.Update] does for those of the operator.
func (l *Manager) UpdateGuild(ctx context.Context, guild string, changes map[string]json.RawMessage,
	expectVersion string,
) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.Guild(guild)
	values, bad := maps.Clone(st.Stored), []FieldError(nil)
	if values == nil {
		values = make(map[string]json.RawMessage)
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		raw := changes[key]
		i := slices.IndexFunc(st.Fields, func(f Field) bool { return f.Key == key })
		switch {
		case i < 0:
			bad = append(bad, FieldError{Key: key, Value: shortValue(raw), Why: "is not a setting of a server"})
		case isNull(raw):
			delete(values, key)
		default:
			v, err := st.Fields[i].decode(raw, l.Providers)
			if text, isText := v.(string); err == nil && isText && key == ServerBudget {
				err = checkWithin(text, st.Settings.Budget.Guild)
			}
			if err != nil {
				bad = append(bad, FieldError{Key: key, Value: shortValue(raw), Why: err.Error()})
			}
			if values[key] = encodeValue(v); v == st.Fields[i].Default {
				delete(values, key)
			}
		}
	}
	if bad != nil {
		return &InvalidError{Fields: bad}
	}
	if expectVersion != st.Version {
		return fmt.Errorf("update the settings of a server: %w", ErrConflict)
	}
	next := GuildValues{Values: values, Version: l.guildValues(guild).Version + 1}
	if err := l.Guilds.SaveGuildSettings(ctx, guild, next); err != nil {
		return fmt.Errorf("save the settings of a server: %w", err)
	}
	l.storeGuild(guild, &next)
	return nil
}

// checkWithin returns an error if a limit allows more than another one.
func checkWithin(text, most string) error {
	a, _ := ParseLimit(text) // both have been parsed before
	b, err := ParseLimit(most)
	over := func(x, y float64) bool { return y > 0 && x > y }
	if err == nil && (over(a.USD, b.USD) || over(float64(a.Calls), float64(b.Calls)) ||
		over(float64(a.Steps), float64(b.Steps)) ||
		over(float64(a.Tokens), float64(b.Tokens)) || over(float64(a.Time), float64(b.Time)) ||
		over(float64(a.Talk), float64(b.Talk))) {
		return fmt.Errorf("must allow no more than the operator does: %s", most)
	}
	return nil
}

// ForgetGuild deletes the settings of a server.
func (l *Manager) ForgetGuild(ctx context.Context, guild string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Guilds == nil {
		return nil
	}
	if err := l.Guilds.DeleteGuildSettings(ctx, guild); err != nil {
		return fmt.Errorf("delete the settings of a server: %w", err)
	}
	l.storeGuild(guild, nil)
	return nil
}

// storeGuild sets the stored values of a server; nil removes them. The caller holds the lock.
func (l *Manager) storeGuild(guild string, v *GuildValues) {
	all := make(map[string]GuildValues)
	if now := l.guilds.Load(); now != nil {
		maps.Copy(all, *now)
	}
	if delete(all, guild); v != nil {
		all[guild] = *v
	}
	l.guilds.Store(&all)
}
