package bot

import (
	"context"
	"fmt"
	"time"

	"clank/bot/discord"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Calls is what people can have done about voice calls. Each method returns what to tell the person at o; an error is a sentence for
// them, too.
type Calls interface {
	// Join joins the voice channel that the person is in.
	Join(ctx context.Context, o sessions.Origin) (string, error)

	// Leave leaves the call of the person's server.
	Leave(ctx context.Context, o sessions.Origin) (string, error)

	// Privacy says whether the person is heard in calls, and by what they can see that nobody else listens; choice is "out", "in" or
	// empty for no change.
	Privacy(ctx context.Context, o sessions.Origin, choice string) (string, error)

	// Share shows the page of a session, or of the person's last one if it is empty, to the people of the call.
	Share(ctx context.Context, o sessions.Origin, session string) (string, error)

	// Unshare ends that.
	Unshare(ctx context.Context, o sessions.Origin) (string, error)
}

// callTimeout bounds a command about calls: joining one takes several answers of Discord.
const callTimeout = time.Minute

// callCommands returns the subcommands about calls, if there are calls.
func (b *Bot) callCommands() []*discordgo.ApplicationCommandOption {
	if b.Calls == nil {
		return nil
	}
	const (
		sub  = discordgo.ApplicationCommandOptionSubCommand
		text = discordgo.ApplicationCommandOptionString
	)
	return []*discordgo.ApplicationCommandOption{
		{Type: sub, Name: "join", Description: "Come into your voice channel"},
		{Type: sub, Name: "leave", Description: "Leave the voice channel"},
		{
			Type: sub, Name: "privacy", Description: "Say whether you are heard in calls",
			Options: []*discordgo.ApplicationCommandOption{{
				Type: text, Name: "choice", Description: "Be left out, or be heard again",
				Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "leave me out", Value: "out"}, {Name: "hear me", Value: "in"}},
			}},
		},
		{
			Type: sub, Name: "share", Description: "Show a browser session to the people of the call",
			Options: []*discordgo.ApplicationCommandOption{
				{Type: text, Name: "session", MaxLength: 100, Description: "Which one; your last one here if you name none"},
			},
		},
		{Type: sub, Name: "unshare", Description: "Stop showing it"},
	}
}

// onCallCommand reports whether the command is about calls.
func (b *Bot) onCallCommand(base context.Context, i *discordgo.Interaction, sub *discordgo.ApplicationCommandInteractionDataOption, who person) bool {
	if b.Calls == nil {
		return false
	}
	var do func(context.Context, sessions.Origin) (string, error)
	switch sub.Name {
	case "join":
		do = b.Calls.Join
	case "leave":
		do = b.Calls.Leave
	case "privacy":
		do = func(ctx context.Context, o sessions.Origin) (string, error) {
			return b.Calls.Privacy(ctx, o, optionText(sub.Options, "choice"))
		}
	case "share":
		do = func(ctx context.Context, o sessions.Origin) (string, error) {
			return b.Calls.Share(ctx, o, optionText(sub.Options, "session"))
		}
	case "unshare":
		do = b.Calls.Unshare
	default:
		return false
	}
	b.startWork(base, func(ctx context.Context) {
		// What somebody wants of their privacy, and addresses with a secret in them, are for that person alone.
		ack := discord.OutgoingMessage{Private: sub.Name == "privacy" || sub.Name == "share"}
		b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, ack)
		from := b.asModerator(b.completeOrigin(ctx, originOf(i, who)), who, who.bits)
		b.editAnswer(ctx, i, b.callCommand(ctx, from, do))
	}, func(ctx context.Context) {
		b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, discord.OutgoingMessage{Content: busyText, Private: true})
	})
	return true
}

func (b *Bot) callCommand(ctx context.Context, from sessions.Origin, do func(context.Context, sessions.Origin) (string, error)) string {
	if from.Guild == "" {
		return "There are no voice channels here. Use this on a server."
	}
	if why := b.disabled(ctx, from); why != "" {
		return discord.AsSentence(why)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("it took longer than %s", callTimeout))
	defer cancel()
	text, err := do(ctx, from)
	if err != nil {
		return discord.EscapeLine(discord.AsSentence(err.Error()), 1000)
	}
	return text
}

// editAnswer sends the answer to a command whose response was deferred.
func (b *Bot) editAnswer(ctx context.Context, i *discordgo.Interaction, text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout)
	defer cancel()
	if err := b.rest.EditResponse(ctx, i, discord.OutgoingMessage{Content: discord.SplitMessage(text, discord.MaxMessageLength)[0]}); err != nil {
		b.logger().Warn("command not answered", "error", err)
	}
}

// Post writes into a channel: Markdown and pictures, over as many messages as that takes.
func (b *Bot) Post(ctx context.Context, channel, text string, images []llm.Image) error {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	for _, v := range composeMessages(finalMessage{text: text, images: images}) {
		if _, err := b.rest.Send(ctx, channel, discord.OutgoingMessage{Content: v.content, Files: v.files}); err != nil {
			return fmt.Errorf("write into channel %s: %w", channel, err)
		}
	}
	return nil
}
