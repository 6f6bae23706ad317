package bot

import (
	"context"

	"clank/bot/discord"
	"clank/internal/i18n"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// clipCommand answers /clank clip: for all to see, as what it shows was not private.
func (b *Bot) clipCommand(ctx context.Context, i *discordgo.Interaction, from sessions.Origin, loc i18n.Locale) {
	b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, discord.OutgoingMessage{})
	from = b.completeOrigin(ctx, from)
	from.Locale = loc
	why := "There are no recordings here."
	if b.Pages != nil {
		why = b.Host.Disabled(ctx, from)
	}
	if why != "" {
		b.editAnswer(ctx, i, false, loc.Sentence(why))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	data, err := b.Pages.Clip(ctx, from, maxUpload)
	if err != nil {
		b.editAnswer(ctx, i, false, sentence(loc, err.Error(), 1000))
		return
	}
	b.editAnswer(ctx, i, false, "", discord.File{Name: "clip.webm", MediaType: "video/webm", Data: data})
}

// clipSubcommand returns the subcommand, if films are recorded.
func clipSubcommand(offered bool) []*discordgo.ApplicationCommandOption {
	if !offered {
		return nil
	}
	return []*discordgo.ApplicationCommandOption{{
		Type: discordgo.ApplicationCommandOptionSubCommand, Name: "clip",
		Description: "Show the last 20 seconds of your session here as a video",
	}}
}
