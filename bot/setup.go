package bot

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"clank/bot/discord"
	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// ServerSettings are the settings of servers. [settings.Manager] has them.
type ServerSettings interface {
	For(guild string) settings.Settings
	Guild(guild string) settings.GuildState
	UpdateGuild(ctx context.Context, guild string, changes map[string]json.RawMessage, expectVersion string) error
}

// setupPrefix begins the custom id of what /clank setup shows; the key of a setting follows.
const setupPrefix = "clank:setup:"

// managerBits are the permissions with which people may set up clank on a server.
const managerBits = discordgo.PermissionManageGuild | discordgo.PermissionAdministrator

// maxChosen is the maximum number of channels or roles chosen in a menu.
const maxChosen = 25

// isPrivate reports whether everything on a server is only shown to the person who asked.
func (b *Bot) isPrivate(guild string) bool {
	return b.Settings != nil && guild != "" && b.Settings.For(guild).Server.Private
}

// maySetUp returns why a person may not set up clank here; empty if they may. Managers whom the server's settings
// exclude may still change these; people whom the operator's rules exclude may not.
func (b *Bot) maySetUp(i *discordgo.Interaction, who person) string {
	if i.GuildID == "" || b.Settings == nil {
		return who.locale.T("That is set on a server, not in direct messages.")
	}
	if who.bits&managerBits == 0 {
		return who.locale.T("Only people who may manage this server can set that.")
	}
	st := b.Settings.Guild(i.GuildID)
	p := sessions.Origin{
		User: who.id, Roles: who.roles, Guild: i.GuildID, Channel: i.ChannelID,
		Parent: b.guilds.Parent(i.GuildID, i.ChannelID),
	}
	if err := st.Settings.Access.Rules().Check(p); err != nil {
		return who.locale.Sentence(err.Error())
	}
	if len(st.ManagerFields()) == 0 {
		return who.locale.T("The operator of this clank sets everything for this server.")
	}
	return ""
}

// setupCommand shows the settings of a server to a person who manages it.
func (b *Bot) setupCommand(ctx context.Context, i *discordgo.Interaction, who person) {
	if why := b.maySetUp(i, who); why != "" {
		b.replyPrivately(ctx, i, why)
		return
	}
	b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, b.setupMessage(who.locale, i.GuildID, ""))
}

// onSetup handles a component of /clank setup. values are what was chosen.
func (b *Bot) onSetup(base context.Context, i *discordgo.Interaction, key string, values []string, form bool,
	who person,
) {
	b.runShort(base, func(ctx context.Context) {
		why := b.maySetUp(i, who)
		var st settings.GuildState
		var field settings.Field
		if why == "" {
			st = b.Settings.Guild(i.GuildID)
			at := slices.IndexFunc(st.ManagerFields(), func(f settings.Field) bool { return f.Key == key })
			if at < 0 {
				why = who.locale.T("The operator of this clank sets that.")
			} else {
				field = st.ManagerFields()[at]
			}
		}
		if why != "" {
			b.replyPrivately(ctx, i, why)
			return
		}
		if field.Kind == settings.KindText && !form {
			b.openSetupForm(ctx, i, field, st, who.locale)
			return
		}
		change := map[string]json.RawMessage{key: nextValue(field, st.Settings, values)}
		ctx, cancel := context.WithTimeout(ctx, shortTimeout)
		defer cancel()
		note := ""
		if err := b.Settings.UpdateGuild(ctx, i.GuildID, change, st.Version); err != nil {
			note = setupError(who.locale, err)
			b.logger().Info("a server's setting is not changed", "guild", i.GuildID, "key", key, "error", err)
		} else {
			b.logger().Info("a server's setting is changed", "guild", i.GuildID, "key", key, "by", who.id)
		}
		b.respond(ctx, i, discordgo.InteractionResponseUpdateMessage, b.setupMessage(who.locale, i.GuildID, note))
	})
}

// nextValue returns the value of a field after its component was used: what was chosen, or the other value for a
// button.
func nextValue(f settings.Field, now settings.Settings, values []string) json.RawMessage {
	switch v := f.Get(now).(type) {
	case bool:
		return f.ParseText(map[bool]string{true: "off", false: "on"}[v])
	case string:
		if f.Key == settings.ServerIsolation {
			return f.ParseText(f.Options[(optionAt(f, v)+1)%len(f.Options)].Value)
		}
	}
	return f.ParseText(strings.Trim(strings.Join(values, " "), " -"))
}

// optionAt returns the index of the option with a value; 0 if there is none.
func optionAt(f settings.Field, value string) int {
	return max(0, slices.IndexFunc(f.Options, func(o settings.Option) bool { return o.Value == value }))
}

// setupError returns why a change was refused, for people.
func setupError(loc i18n.Locale, err error) string {
	var invalid *settings.InvalidError
	switch {
	case errors.As(err, &invalid) && len(invalid.Fields) > 0:
		return loc.T("This cannot be set: it %s.", discord.EscapeLine(loc.Text(invalid.Fields[0].Why), 300))
	case errors.Is(err, settings.ErrConflict):
		return loc.T("Somebody else changed the settings just now. This is how they are.")
	}
	return loc.T("That could not be kept. Please try again.")
}

func (b *Bot) openSetupForm(ctx context.Context, i *discordgo.Interaction, f settings.Field, st settings.GuildState,
	loc i18n.Locale,
) {
	value, _ := f.Get(st.Settings).(string)
	b.openForm(ctx, i, discord.Form{
		ID: setupPrefix + f.Key, Title: loc.Text(f.Label),
		Fields: []discord.FormField{{
			ID: f.Key, Label: loc.Text(f.Label), Hint: "2 USD, 1000000 tokens", Value: value,
			Max: f.MaxLen, Optional: true,
		}},
	})
}

// setupMessage shows the settings of a server, with a menu or a button for each that its managers may set.
func (b *Bot) setupMessage(loc i18n.Locale, guild, note string) discord.OutgoingMessage {
	st := b.Settings.Guild(guild)
	lines := []string{"**" + loc.T("Settings of this server") + "**"}
	var menus, buttons []discordgo.MessageComponent
	for _, f := range st.ManagerFields() {
		lines = append(lines, loc.Text(f.Label)+": "+setupValue(loc, f, st.Settings))
		switch {
		case f.Kind == settings.KindChannels || f.Kind == settings.KindRoles || f.Kind == settings.KindChoice &&
			f.Key != settings.ServerIsolation:
			menus = append(menus, discordgo.ActionsRow{Components: []discordgo.MessageComponent{setupMenu(loc, f, st.Settings)}})
		default:
			buttons = append(buttons, discordgo.Button{
				Label: loc.Text(f.Label), Style: discordgo.SecondaryButton, CustomID: setupPrefix + f.Key,
			})
		}
	}
	if len(buttons) > 0 {
		menus = append(menus, discordgo.ActionsRow{Components: buttons})
	}
	if note != "" {
		lines = append(lines, "", "**"+note+"**")
	}
	return discord.OutgoingMessage{Content: strings.Join(lines, "\n"), Rows: menus, Private: true}
}

// setupValue returns a value as people read it: Discord writes the names of channels and roles itself.
func setupValue(loc i18n.Locale, f settings.Field, s settings.Settings) string {
	text, isText := f.Get(s).(string)
	if f.Kind != settings.KindChannels && f.Kind != settings.KindRoles {
		if text == "" && isText && len(f.Options) == 0 {
			return loc.T("As the operator has set")
		}
		return discord.EscapeLine(loc.Text(f.FormatValue(s)), 200)
	}
	mark := "<#"
	if f.Kind == settings.KindRoles {
		mark = "<@&"
	}
	ids := strings.Fields(text)
	if len(ids) == 0 {
		return loc.T("all")
	}
	more := len(ids) - maxChosen // a message can contain about eighty
	ids = ids[:min(len(ids), maxChosen)]
	for i, id := range ids {
		ids[i] = mark + id + ">"
	}
	if more > 0 {
		ids = append(ids, loc.T("… and %d more", more))
	}
	return strings.Join(ids, " ")
}

// setupMenu returns the menu of a field.
func setupMenu(loc i18n.Locale, f settings.Field, s settings.Settings) discordgo.SelectMenu {
	text, _ := f.Get(s).(string)
	menu := discordgo.SelectMenu{CustomID: setupPrefix + f.Key, Placeholder: loc.Text(f.Label)}
	kind := discordgo.SelectMenuDefaultValueChannel
	switch f.Kind {
	case settings.KindChannels:
		menu.MenuType = discordgo.ChannelSelectMenu
	case settings.KindRoles:
		menu.MenuType, kind = discordgo.RoleSelectMenu, discordgo.SelectMenuDefaultValueRole
	default:
		for n, o := range f.Options[:min(len(f.Options), maxChosen)] {
			value := o.Value
			if value == "" {
				value = "-" // Discord wants one
			}
			menu.Options = append(menu.Options, discordgo.SelectMenuOption{
				Label: loc.Text(o.Label), Value: value,
				Default: n == optionAt(f, text),
			})
		}
		return menu
	}
	none := 0
	menu.MinValues, menu.MaxValues = &none, maxChosen
	for id := range strings.FieldsSeq(text) {
		if len(menu.DefaultValues) < maxChosen {
			menu.DefaultValues = append(menu.DefaultValues, discordgo.SelectMenuDefaultValue{ID: id, Type: kind})
		}
	}
	return menu
}
