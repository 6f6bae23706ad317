package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Calls executes requests about voice calls. Each method returns a text for the person at o; an error is a sentence for
// them, too.
type Calls interface {
	// Join joins the voice channel that the person is in.
	Join(ctx context.Context, o sessions.Origin) (string, error)

	// Leave leaves the call of the person's server.
	Leave(ctx context.Context, o sessions.Origin) (string, error)

	// Privacy returns whether the person is heard in calls, and how they can verify that nobody else listens; choice is
	// "out", "in" or empty for no change.
	Privacy(ctx context.Context, o sessions.Origin, choice string) (string, error)

	// Share shows the page of a session, or of the person's last one if it is empty, to the people of the call.
	Share(ctx context.Context, o sessions.Origin, session string) (string, error)

	// Unshare ends that.
	Unshare(ctx context.Context, o sessions.Origin) (string, error)
}

// Links gives people links to the pages of sessions. What its methods return is as with [Calls].
type Links interface {
	// Link creates a link to the page of a session, for one person. It needs no call.
	Link(ctx context.Context, o sessions.Origin, in LinkRequest) (string, error)

	// Unlink revokes the person's links, or those to one session.
	Unlink(ctx context.Context, o sessions.Origin, session string) (string, error)
}

// Activities opens sessions in the Activity, a window of Discord's own.
type Activities interface {
	// Enabled reports whether it is available now.
	Enabled() bool

	// Launch settles which session the person's Activity shows when it opens. An error is a sentence for them.
	Launch(ctx context.Context, o sessions.Origin, in LaunchRequest) error
}

// LaunchRequest asks for an Activity.
type LaunchRequest struct {
	Session string // empty: the person's last one here
	Share   bool   // for everyone in the call
}

// LinkRequest asks for a link.
type LinkRequest struct {
	Session string // empty: the person's last one here
	Control bool   // to work the page, too
	Minutes int    // 0: as long as links last
	User    string // id of the person who can open it; empty: whoever opens it first
}

var errNoVoice = errors.New("there are no voice channels here; use this on a server")

// callTimeout limits a command about calls: joining one takes several responses of Discord.
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
	return append([]*discordgo.ApplicationCommandOption{
		{Type: sub, Name: "join", Description: "Come into your voice channel"},
		{Type: sub, Name: "leave", Description: "Leave the voice channel"},
		{
			Type: sub, Name: "privacy", Description: "Say whether you are heard in calls",
			Options: []*discordgo.ApplicationCommandOption{{
				Type: text, Name: "choice", Description: "Be left out, or be heard again",
				Choices: []*discordgo.ApplicationCommandOptionChoice{
					{Name: "leave me out", Value: "out"},
					{Name: "hear me", Value: "in"},
				},
			}},
		},
		{
			Type: sub, Name: "share", Description: "Show a browser session to the people of the call",
			Options: []*discordgo.ApplicationCommandOption{sessionOption("Which one; your last one here if you name none")},
		},
		{Type: sub, Name: "unshare", Description: "Stop showing it"},
	}, b.linkCommands()...)
}

// linkCommands returns the subcommands about links, if links are available.
func (b *Bot) linkCommands() []*discordgo.ApplicationCommandOption {
	if b.Links == nil {
		return nil
	}
	const sub = discordgo.ApplicationCommandOptionSubCommand
	one := 1.0
	return []*discordgo.ApplicationCommandOption{
		{
			Type: sub, Name: "link", Description: "Make a link to a browser session, for you or one other person",
			Options: []*discordgo.ApplicationCommandOption{
				sessionOption("Which one; your last one here if you name none"),
				{
					Type: discordgo.ApplicationCommandOptionBoolean, Name: "control",
					Description: "Let them use mouse and keyboard, too",
				},
				{
					Type: discordgo.ApplicationCommandOptionInteger, Name: "minutes", MinValue: &one, MaxValue: 24 * 60,
					Description: "How long it works",
				},
				{
					Type: discordgo.ApplicationCommandOptionUser, Name: "person",
					Description: "Only they can open it, and sign in with Discord for that",
				},
			},
		},
		{
			Type: sub, Name: "unlink", Description: "Make your links void",
			Options: []*discordgo.ApplicationCommandOption{sessionOption("Only those to this session")},
		},
	}
}

// onCallCommand reports whether the command is about calls.
func (b *Bot) onCallCommand(base context.Context, i *discordgo.Interaction,
	sub *discordgo.ApplicationCommandInteractionDataOption, who person,
) bool {
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
	case "link":
		do = b.linkMaker(readLink(sub.Options))
	case "unlink":
		do = func(ctx context.Context, o sessions.Origin) (string, error) {
			return b.Links.Unlink(ctx, o, optionText(sub.Options, "session"))
		}
	default:
		return false
	}
	// A person's privacy choice, and links with a secret, are shown only to that person.
	link := strings.HasSuffix(sub.Name, "link")
	if link && b.Links == nil {
		return false
	}
	if i.GuildID == "" && !link {
		do = func(context.Context, sessions.Origin) (string, error) { return "", errNoVoice }
	}
	private := sub.Name == "privacy" || sub.Name == "share" || link
	if sub.Name == "share" && b.launch(base, i, who, LaunchRequest{optionText(sub.Options, "session"), true}, do) {
		return true
	}
	b.answerCall(base, i, who, private, do)
	return true
}

// launch opens the Activity with a session, and reports whether there is an Activity. If Discord does not open it, do
// answers.
func (b *Bot) launch(
	base context.Context, i *discordgo.Interaction, who person, in LaunchRequest,
	do func(context.Context, sessions.Origin) (string, error),
) bool {
	if b.Activities == nil || !b.Activities.Enabled() {
		return false
	}
	b.startWork(base, func(ctx context.Context) {
		from := b.asModerator(b.completeOrigin(ctx, originOf(i, who)), who, who.bits)
		from.Locale = who.locale
		why := b.callCommand(ctx, from, func(ctx context.Context, o sessions.Origin) (string, error) {
			return "", b.Activities.Launch(ctx, o, in)
		})
		if why != "" {
			says := discord.OutgoingMessage{Content: why, Private: true}
			b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, says)
			return
		}
		if err := b.rest.Respond(ctx, i, discord.ResponseLaunchActivity, discord.OutgoingMessage{}); err != nil {
			b.logger().Warn("the Activity is not opened; answering without it", "error", err)
			b.answerCall(base, i, who, true, do)
		}
	}, func(ctx context.Context) {
		busy := discord.OutgoingMessage{Content: who.locale.T(busyText), Private: true}
		b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, busy)
	})
	return true
}

// linkMaker returns a function that creates a link. Unlike the other subcommands it needs no voice channels.
func (b *Bot) linkMaker(in LinkRequest) func(context.Context, sessions.Origin) (string, error) {
	return func(ctx context.Context, o sessions.Origin) (string, error) { return b.Links.Link(ctx, o, in) }
}

// readLink reads the options; those of an unexpected type are ignored.
func readLink(options []*discordgo.ApplicationCommandInteractionDataOption) LinkRequest {
	in := LinkRequest{Session: optionText(options, "session")}
	for _, o := range options {
		switch {
		case o.Name == "control" && o.Type == discordgo.ApplicationCommandOptionBoolean:
			in.Control = o.BoolValue()
		case o.Name == "minutes" && o.Type == discordgo.ApplicationCommandOptionInteger:
			in.Minutes = int(o.IntValue())
		case o.Name == "person" && o.Type == discordgo.ApplicationCommandOptionUser:
			in.User, _ = o.Value.(string) // an id, as Discord sends them
		}
	}
	return in
}

// onLiveButton shows the session of a browse to the person who pressed the button: in the Activity, or by a link.
func (b *Bot) onLiveButton(base context.Context, i *discordgo.Interaction, session string, who person) {
	link := b.linkMaker(LinkRequest{Session: session})
	if b.Links != nil && !b.launch(base, i, who, LaunchRequest{Session: session}, link) {
		b.answerCall(base, i, who, true, link)
	}
}

// answerCall responds to an interaction with the text of do.
func (b *Bot) answerCall(
	base context.Context, i *discordgo.Interaction, who person, private bool,
	do func(context.Context, sessions.Origin) (string, error),
) {
	b.startWork(base, func(ctx context.Context) {
		ack := discord.OutgoingMessage{Private: private}
		b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, ack)
		from := b.asModerator(b.completeOrigin(ctx, originOf(i, who)), who, who.bits)
		from.Locale = b.localeOf(i, who, private)
		b.editAnswer(ctx, i, private, b.callCommand(ctx, from, do))
	}, func(ctx context.Context) {
		b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource,
			discord.OutgoingMessage{Content: who.locale.T(busyText), Private: true})
	})
}

func (b *Bot) callCommand(ctx context.Context, from sessions.Origin,
	do func(context.Context, sessions.Origin) (string, error),
) string {
	if why := b.Host.Disabled(ctx, from); why != "" {
		return from.Locale.Sentence(why)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("it took longer than %s", callTimeout))
	defer cancel()
	text, err := do(ctx, from)
	if err != nil {
		return sentence(from.Locale, err.Error(), 1000)
	}
	return text
}

// editAnswer sends the response to an interaction whose response was deferred. If Discord no longer accepts it, it is
// sent as a message.
func (b *Bot) editAnswer(ctx context.Context, i *discordgo.Interaction, private bool, text string,
	files ...discord.File,
) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout)
	defer cancel()
	who, _ := personOf(i)
	where := b.commandMessage(i, who, private || isAway(i))
	parts := discord.SplitMessage(text, discord.MaxMessageLength)
	answer := make([]messageContent, min(max(len(parts), 1), maxParts))
	for n := range parts[:min(len(parts), maxParts)] {
		answer[n].content = parts[n]
	}
	answer[len(answer)-1].files = files
	if err := where.finish(ctx, answer); err != nil {
		b.logger().Error("command not answered", "channel", i.ChannelID, "user", who.id, "error", err)
	}
}

// Post posts Markdown and pictures to a channel, in as many messages as necessary.
func (b *Bot) Post(ctx context.Context, channel, text string, images []llm.Image) error {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	for _, v := range composeMessages(b.locale(b.guilds.GuildOf(channel)), finalMessage{text: text, images: images}) {
		if _, err := b.rest.Send(ctx, channel, discord.OutgoingMessage{Content: v.content, Files: v.files}); err != nil {
			return fmt.Errorf("write into channel %s: %w", channel, err)
		}
	}
	return nil
}
