package bot

import (
	"fmt"
	"time"

	"clank/bot/discord"
	"clank/internal/i18n"

	"github.com/bwmarrin/discordgo"
)

// locale returns the language of what everybody reads on a server; with an empty guild, of direct messages to somebody
// whose own language is not known.
func (b *Bot) locale(guild string) i18n.Locale {
	if b.Language != nil {
		if l := b.Language(guild); l != "" {
			return l
		}
	}
	return i18n.Locale(b.guilds.Locale(guild))
}

// localeOf returns the language of the answer to an interaction, which who alone reads if it is private.
func (b *Bot) localeOf(i *discordgo.Interaction, who person, private bool) i18n.Locale {
	if private || i.GuildID == "" {
		return who.locale
	}
	if l := b.locale(i.GuildID); l != "" || i.GuildLocale == nil {
		return l
	}
	return i18n.Locale(*i.GuildLocale)
}

// sentence returns an English reason as a sentence of the language that shows as it is, cut to at most n characters.
func sentence(loc i18n.Locale, reason string, n int) string {
	return discord.EscapeLine(discord.AsSentence(loc.Text(reason)), n)
}

// timestamp returns t as Discord's apps write it in the language of each reader: 'R' is how long until then, 'D' a date,
// 't' a time of day.
func timestamp(t time.Time, style rune) string { return fmt.Sprintf("<t:%d:%c>", t.Unix(), style) }
