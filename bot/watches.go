package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/i18n"
	"clank/internal/watches"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Watches looks at pages for people. [watches.Runner] is one.
type Watches interface {
	Add(ctx context.Context, w watches.Watch) (watches.Watch, error)
	List(ctx context.Context, q watches.Query) ([]watches.Watch, error)
	End(ctx context.Context, id string, from sessions.Origin, by cancel.Actor) (watches.Watch, error)
}

// watchTimeout bounds the first look at a page, a model's judgement included.
const watchTimeout = 5 * time.Minute

func (b *Bot) onWatchCommand(base context.Context, i *discordgo.Interaction,
	sub *discordgo.ApplicationCommandInteractionDataOption, who person,
) bool {
	if b.Watches == nil || sub.Name != "watch" && sub.Name != "watches" {
		return false
	}
	b.startWork(base, func(ctx context.Context) {
		ack := discord.OutgoingMessage{Private: true}
		b.respond(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, ack)
		from := b.asModerator(b.completeOrigin(ctx, originOf(i, who)), who, who.bits)
		from.Private = from.Private || b.isPrivate(i.GuildID)
		var text string
		switch why := b.Host.Disabled(ctx, from); {
		case sub.Name == "watches":
			text = b.watchesCommand(ctx, from, optionText(sub.Options, "end"), who)
		case why != "":
			text = from.Locale.Sentence(why)
		default:
			text = b.watchCommand(ctx, from, sub.Options)
		}
		b.editAnswer(ctx, i, true, text)
	}, func(ctx context.Context) {
		b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource,
			discord.OutgoingMessage{Content: who.locale.T(busyText), Private: true})
	})
	return true
}

// watchCommand starts a watch and confirms it.
func (b *Bot) watchCommand(ctx context.Context, from sessions.Origin,
	options []*discordgo.ApplicationCommandInteractionDataOption,
) string {
	w, err := readWatch(from, options)
	if err != nil {
		return from.Locale.Sentence(err.Error())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, watchTimeout, errors.New("the page did not come in time"))
	defer cancel()
	w, err = b.Watches.Add(ctx, w)
	if err != nil {
		return from.Locale.T("Not watched: %s", discord.EscapeLine(from.Locale.Text(err.Error()), 500))
	}
	loc := from.Locale
	text := loc.T("Watching %s, and telling you here when %s.", discord.EscapeLine(w.URL, 300), watchedFor(loc, w, 300))
	if w.Origin.Private {
		text = loc.T("Watching %s, and telling you alone when %s.", discord.EscapeLine(w.URL, 300), watchedFor(loc, w, 300))
	}
	text += " " + loc.T("I look %s until %s. `/clank watches end:%s` ends it.", intervalText(loc, w.Every),
		timestamp(w.Until, 'D'), w.ID)
	if w.Seen.Value != "" {
		text += "\n" + loc.T("Now it is %s.", discord.EscapeLine(w.Seen.Value, 60))
	}
	if w.Seen.Met {
		text += "\n" + loc.T("That is so already; I tell you when it is so again after it was not.")
	}
	return text
}

// watchedFor describes what w waits for.
func watchedFor(loc i18n.Locale, w watches.Watch, n int) string {
	return discord.EscapeLine(loc.Text(w.What), n)
}

// readWatch reads the options of /clank watch.
func readWatch(from sessions.Origin,
	options []*discordgo.ApplicationCommandInteractionDataOption,
) (watches.Watch, error) {
	w := watches.Watch{
		Origin: from, URL: optionText(options, "url"),
		Condition: watches.Condition{Near: optionText(options, "near")},
	}
	asked := 0
	for _, o := range options {
		if o == nil {
			continue
		}
		number, _ := o.Value.(float64)
		switch o.Name {
		case "below", "above", "says", "when":
			asked++
		}
		switch o.Name {
		case "below":
			w.Kind, w.Number = watches.KindBelow, number
		case "above":
			w.Kind, w.Number = watches.KindAbove, number
		case "says":
			w.Kind, w.Text = watches.KindContains, optionText(options, "says")
		case "when":
			w.Kind, w.What = watches.KindJudged, optionText(options, "when")
		case "every":
			w.Every = time.Duration(number) * time.Minute
		case "days":
			w.Until = time.Now().Add(time.Duration(number) * 24 * time.Hour)
		case "private":
			yes, _ := o.Value.(bool)
			w.Origin.Private = w.Origin.Private || yes
		}
	}
	if asked > 1 {
		return w, errors.New("choose one of below, above, says and when")
	}
	return w, nil
}

func optionText(options []*discordgo.ApplicationCommandInteractionDataOption, name string) string {
	for _, o := range options {
		if o != nil && o.Name == name {
			text, _ := o.Value.(string)
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// watchesCommand lists the watches of a person, or ends one.
func (b *Bot) watchesCommand(ctx context.Context, from sessions.Origin, end string, who person) string {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	if end != "" {
		w, err := b.Watches.End(ctx, end, from, who.actor(who.bits))
		if err != nil {
			return sentence(from.Locale, err.Error(), 500)
		}
		return from.Locale.T("Ended: %s is not watched any more.", discord.EscapeLine(w.URL, 300))
	}
	owner := watches.OwnerOf(from)
	list, err := b.Watches.List(ctx, watches.Query{Owner: &owner, Active: true, Limit: 25})
	if err != nil {
		b.logger().Error("watches not listed", "error", err)
		return from.Locale.T("Your watches cannot be listed just now. Please try again.")
	}
	lines := make([]string, 0, len(list)+1)
	for _, w := range list {
		line := from.Locale.T("`%s` %s: %s, next look %s", w.ID, discord.EscapeLine(w.URL, 100),
			watchedFor(from.Locale, w, 120),
			timestamp(w.NextCheck, 'R'))
		if w.Problem != "" {
			line += " " + from.Locale.T("(last time: %s)", discord.EscapeLine(from.Locale.Text(w.Problem), 100))
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return from.Locale.T("Nothing is watched for you. /clank watch begins it.")
	}
	lines = append(lines, "-# "+from.Locale.T("/clank watches end:NAME ends one."))
	return strings.Join(lines, "\n")
}

// ErrLeftGuild means that a person is no longer on the server where they made the request.
var ErrLeftGuild = errors.New("whoever asked for it is not on that server any more")

// RefreshOrigin returns o with what is not stored: the current roles of its person, the parent channel of a thread, and
// [sessions.Origin.Sees]. The error is [ErrLeftGuild], or why Discord could not be asked.
func (b *Bot) RefreshOrigin(ctx context.Context, o sessions.Origin) (sessions.Origin, error) {
	if o.Guild == "" {
		return b.completeOrigin(ctx, o), nil
	}
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	o = b.completeOrigin(ctx, o)
	m, err := b.rest.Member(ctx, o.Guild, o.User)
	switch {
	case discord.IsCode(err, discord.CodeUnknownMember, discord.CodeUnknownGuild, discord.CodeMissingAccess):
		return o, ErrLeftGuild
	case err != nil:
		return o, fmt.Errorf("ask for the roles of who asked: %w", err)
	}
	o.Roles = m.Roles
	return o, nil
}

// NotifyWatch notifies the owner of a watch: in the channel where it was requested, with a mention, or directly if it
// is private or the bot cannot write to the channel.
func (b *Bot) NotifyWatch(ctx context.Context, w watches.Watch, n watches.Notice) error {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	m := discord.OutgoingMessage{Content: noticeText(b.locale(w.Origin.Guild), w, n), Ping: w.Origin.User}
	direct := w.Origin.Guild != "" && (w.Origin.Private || b.isPrivate(w.Origin.Guild))
	if !direct {
		_, err := b.rest.Send(ctx, w.Origin.Channel, m)
		if !discord.IsCode(err, discord.CodeMissingAccess, discord.CodeMissingPermission, discord.CodeUnknownChannel) {
			return err
		}
		b.logger().Info("the bot may not write in a channel; telling of a watch directly", "channel", w.Origin.Channel,
			"error", err)
	}
	channel, err := b.rest.DirectChannel(ctx, w.Origin.User)
	if err != nil {
		return fmt.Errorf("tell the owner of watch %s: %w", w.ID, err)
	}
	if _, err = b.rest.Send(ctx, channel, m); err != nil {
		return fmt.Errorf("tell the owner of watch %s: %w", w.ID, err)
	}
	return nil
}

// noticeText returns a notice as a message. Text of the page is shown verbatim, and formats nothing.
func noticeText(loc i18n.Locale, w watches.Watch, n watches.Notice) string {
	var t strings.Builder
	fmt.Fprintf(&t, "<@%s> ", w.Origin.User)
	if n.Kind == watches.NoticeMet {
		t.WriteString(loc.T("you wanted to know when %s.", watchedFor(loc, w, 300)) + "\n")
	}
	t.WriteString(discord.EscapeLine(loc.Text(n.Text), 500) + "\n")
	end := discord.RevealLinks(quietLink(w.URL)) + "\n"
	if w.State == watches.StateActive {
		end += "-# " + loc.T("`/clank watches end:%s` ends this watch.", w.ID)
	}
	for _, l := range n.Diff {
		sign, text, _ := strings.Cut(l, " ")
		mark := "➕"
		if sign == "-" {
			mark = "➖"
		}
		line := fmt.Sprintf("%s %s\n", mark, discord.EscapeLine(loc.Text(text), 100))
		if discord.MessageLength(t.String()+line+end) > discord.MaxMessageLength {
			break // the place of the change is worth more than the whole change
		}
		t.WriteString(line)
	}
	t.WriteString(end)
	return discord.SplitMessage(t.String(), discord.MaxMessageLength)[0]
}

// quietLink returns an address that people can follow, in the form that shows no preview.
func quietLink(address string) string {
	if strings.ContainsAny(address, " <>\n`") {
		return "" // it cannot be shown verbatim
	}
	return "<" + address + ">"
}

// intervalText returns how often a watch checks.
func intervalText(loc i18n.Locale, d time.Duration) string {
	switch {
	case d%(24*time.Hour) == 0:
		return loc.T("every %d days", int(d/(24*time.Hour)))
	case d%time.Hour == 0:
		return loc.T("every %d hours", int(d/time.Hour))
	}
	return loc.T("every %d minutes", int(d/time.Minute))
}
