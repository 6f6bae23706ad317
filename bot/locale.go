package bot

import (
	"fmt"
	"time"

	"clank/bot/discord"
	"clank/internal/i18n"

	"github.com/bwmarrin/discordgo"
)

// locale returns the language of public texts on a server; with an empty guild, of direct messages to a person whose
// language is unknown.
func (b *Bot) locale(guild string) i18n.Locale {
	if b.Settings != nil {
		if l := b.Settings.For(guild).Language; l != "" {
			return i18n.Locale(l)
		}
	}
	return i18n.Locale(b.guilds.Locale(guild))
}

// Locale returns the language of what everybody reads on a server.
func (b *Bot) Locale(guild string) i18n.Locale { return b.locale(guild) }

// localeOf returns the language of the response to an interaction, which only who reads if it is private.
func (b *Bot) localeOf(i *discordgo.Interaction, who person, private bool) i18n.Locale {
	if private || i.GuildID == "" {
		return who.locale
	}
	if l := b.locale(i.GuildID); l != "" || i.GuildLocale == nil {
		return l
	}
	return i18n.Locale(*i.GuildLocale)
}

// sentence returns an English reason as a sentence in the given language, escaped and shortened to at most n
// characters.
func sentence(loc i18n.Locale, reason string, n int) string {
	return discord.EscapeLine(loc.Sentence(reason), n)
}

// timestamp returns t in Discord's markup, which is shown in each reader's language: 'R' is relative, 'D' a date, 't' a
// time of day.
func timestamp(t time.Time, style rune) string { return fmt.Sprintf("<t:%d:%c>", t.Unix(), style) }

// localize gives a command, and all in it, its names and descriptions in other languages.
func localize(c *discordgo.ApplicationCommand) {
	if names := translations(nameKey + c.Name); len(names) > 0 {
		c.NameLocalizations = &names
	}
	if texts := translations(c.Description); len(texts) > 0 {
		c.DescriptionLocalizations = &texts
	}
	localizeOptions(c.Options)
}

func localizeOptions(list []*discordgo.ApplicationCommandOption) {
	for _, o := range list {
		o.NameLocalizations, o.DescriptionLocalizations = translations(nameKey+o.Name), translations(o.Description)
		for _, c := range o.Choices {
			c.NameLocalizations = translations(nameKey + c.Name)
		}
		localizeOptions(o.Options)
	}
}

// nameKey comes before the names of commands, options and choices among the texts of package i18n.
const nameKey = "name:"

// translations returns the translations of an English text by Discord's locales, two of which are Spanish; nil if there
// are none.
func translations(english string) map[discordgo.Locale]string {
	var by map[discordgo.Locale]string
	for l, text := range i18n.Translations(english) {
		if by == nil {
			by = make(map[discordgo.Locale]string)
		}
		if l == "es" {
			by["es-ES"], by["es-419"] = text, text
		} else {
			by[discordgo.Locale(l)] = text
		}
	}
	return by
}
