package bot

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/i18n"

	"github.com/bwmarrin/discordgo"
)

// shortTimeout bounds everything short.
const shortTimeout = 30 * time.Second

// stopByMessage stops what runs in the channel of m and reports whether m was
// about that: it was not if nothing runs there.
func (b *Bot) stopByMessage(base context.Context, m *discordgo.Message, who person) bool {
	scope := cancel.Scope{Guild: m.GuildID, Channel: m.ChannelID}
	bits, known := int64(0), m.GuildID == ""
	if !known {
		bits, known = b.guilds.Permissions(m.GuildID, m.ChannelID, who.id, who.roles)
	}
	stopped, refused := b.Scopes.Stop(scope, who.actor(bits), b.Host.AnyoneMayStop())
	if len(stopped)+len(refused) == 0 {
		return false
	}
	b.logStop(scope, who, stopped, refused)
	b.runShort(base, func(ctx context.Context) {
		if len(refused) > 0 && !known {
			bits = b.askPermissions(ctx, m, who)
			more, still := b.Scopes.Stop(scope, who.actor(bits), b.Host.AnyoneMayStop())
			b.logStop(scope, who, more, still)
			stopped, refused = mergeWork(stopped, more), still
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout)
		defer cancel()
		reply := discord.OutgoingMessage{Content: stopText(who.locale, who, stopped, refused), ReplyTo: m.ID}
		if _, err := b.rest.Send(ctx, m.ChannelID, reply); err != nil {
			b.logger().Warn("answer to a stop word not sent", "channel", m.ChannelID, "error", err)
		}
	})
	return true
}

// askedBy returns the id of the work that a message asks for.
func askedBy(message string) string { return "m" + message }

// stopSigns are the emoji that stop what they are put below.
var stopSigns = []string{"⏹", "🛑"}

// onReaction stops the work that a message requested or shows, if a person who may do that adds a stop sign to it.
func (b *Bot) onReaction(base context.Context, r discordgo.MessageReactionAdd) {
	sign := strings.TrimSuffix(r.Emoji.Name, "\ufe0f") // “as a picture”, which some apps add
	if r.Emoji.ID != "" || !slices.Contains(stopSigns, sign) || r.UserID == b.identity().user {
		return
	}
	who := person{id: r.UserID}
	if r.Member != nil && r.Member.User != nil {
		if r.Member.User.Bot {
			return
		}
		who = personFrom(r.Member.User, r.Member.Nick)
		who.roles = r.Member.Roles
	}
	in := &discordgo.Message{GuildID: r.GuildID, ChannelID: r.ChannelID}
	if !b.stopShown(base, r.MessageID, in, who) {
		b.activeProgress.whenShown(r.MessageID, func() { b.stopShown(base, r.MessageID, in, who) })
	}
}

// maxEditAge is how old an edit may be: Discord reports older ones when it unfolds a link or pins a message.
const maxEditAge = time.Minute

// onEdit stops the work that an edited message requested if it now says stop. If it requested none, it counts as a new
// stop message.
func (b *Bot) onEdit(base context.Context, m *discordgo.Message) {
	who, ok := b.authorOf(m)
	if !ok || m.EditedTimestamp == nil || time.Since(*m.EditedTimestamp) > maxEditAge || !b.Host.IsStop(m.Content) ||
		b.handled.Add(m.ID+" "+m.EditedTimestamp.String()) {
		return
	}
	if !b.stopShown(base, m.ID, m, who) {
		b.stopByMessage(base, m, who)
	}
}

// stopShown stops the work that the message with id requested or shows, if who may, and reports whether there is any.
// in is where it is.
func (b *Bot) stopShown(base context.Context, id string, in *discordgo.Message, who person) bool {
	work := cmp.Or(b.activeProgress.shownBy(id), askedBy(id))
	bits, known := int64(0), in.GuildID == ""
	if !known {
		bits, known = b.guilds.Permissions(in.GuildID, in.ChannelID, who.id, who.roles)
	}
	found, stopped := b.Scopes.StopWork(work, who.actor(bits), b.Host.AnyoneMayStop())
	if found {
		b.logger().Info("stop by a sign or an edit", "work", work, "by", who.id, "stopped", stopped)
	}
	if found && !stopped && !known {
		b.runShort(base, func(ctx context.Context) {
			b.Scopes.StopWork(work, who.actor(b.askPermissions(ctx, in, who)), b.Host.AnyoneMayStop())
		})
	}
	return found
}

// findMissedStops reads, after a time without a shard, the messages since then on its servers that stop running work.
func (b *Bot) findMissedStops(ctx, base context.Context, shard int, since time.Time) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	for _, scope := range b.Scopes.Scopes() {
		if !isSnowflake(scope.Channel) || b.gateway.Of(scope.Guild) != shard { // the former: a terminal or the dashboard
			continue
		}
		said, err := b.rest.MessagesSince(ctx, scope.Channel, since.Add(-missedOverlap))
		if err != nil {
			b.logger().Warn("what was said meanwhile is not known", "channel", scope.Channel, "error", err)
			continue
		}
		for _, m := range said {
			m.GuildID = scope.Guild
			if m.Author == nil || m.Author.Bot || m.WebhookID != "" || !b.Host.IsStop(m.Content) || b.handled.Add(m.ID) {
				continue
			}
			who := personFrom(m.Author, "")
			if member, err := b.rest.Member(ctx, scope.Guild, who.id); scope.Guild != "" && err == nil {
				who = personFrom(m.Author, member.Nick)
				who.roles = member.Roles
			}
			who.locale = b.locale(scope.Guild)
			b.logger().Info("a stop was missed", "channel", scope.Channel, "message", m.ID)
			b.stopByMessage(base, m, who)
		}
	}
}

// missedOverlap is by how much Discord's clock and ours may differ.
const missedOverlap = 2 * time.Second

func isSnowflake(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil
}

// askPermissions asks Discord for what the gateway has not reported, and remembers it. If that fails nobody is a
// moderator.
func (b *Bot) askPermissions(ctx context.Context, m *discordgo.Message, who person) int64 {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	guild, err := b.rest.Guild(ctx, m.GuildID)
	if err == nil {
		b.guilds.PutGuild(guild, false)
		var ch *discordgo.Channel
		for id := m.ChannelID; id != "" && err == nil; {
			if ch, err = b.rest.Channel(ctx, id); err != nil {
				break
			}
			b.guilds.PutChannel(ch)
			id = discord.ThreadParent(ch)
		}
	}
	if err != nil {
		b.logger().Warn("permissions not found out", "guild", m.GuildID, "channel", m.ChannelID, "error", err)
	}
	bits, _ := b.guilds.Permissions(m.GuildID, m.ChannelID, who.id, who.roles)
	return bits
}

// onButton handles a button or a menu.
func (b *Bot) onButton(base context.Context, i *discordgo.Interaction, data discordgo.MessageComponentInteractionData,
	who person,
) {
	if answer, asked := strings.CutPrefix(data.CustomID, questionPrefix); asked {
		b.onAnswer(base, i, answer, strings.Join(data.Values, ""), who)
		return
	}
	if key, setup := strings.CutPrefix(data.CustomID, setupPrefix); setup {
		b.onSetup(base, i, key, data.Values, false, who)
		return
	}
	if session, live := strings.CutPrefix(data.CustomID, livePrefix); live {
		b.onLiveButton(base, i, session, who)
		return
	}
	id, ours := strings.CutPrefix(data.CustomID, stopPrefix)
	if !ours && b.onAction(base, i, data, who) {
		return
	}
	if !ours {
		b.logger().Info("button of somebody else", "custom_id", data.CustomID)
		return
	}
	owner := ""
	for _, w := range b.Scopes.Active(cancel.Scope{Guild: i.GuildID, Channel: i.ChannelID}) {
		if w.ID == id {
			owner = w.Owner
		}
	}
	found, stopped := b.Scopes.StopWork(id, who.actor(who.bits), b.Host.AnyoneMayStop())
	b.logger().Info("stop button", "work", id, "by", who.id, "found", found, "stopped", stopped)
	kind, text := discordgo.InteractionResponseChannelMessageWithSource, ""
	switch {
	case stopped: // the message shows it when the work has ended
		kind = discordgo.InteractionResponseDeferredMessageUpdate
	case found:
		text = refusedText(who.locale, []string{owner})
	default:
		text = who.locale.T("That has ended already.")
	}
	b.runShort(base, func(ctx context.Context) {
		b.respond(ctx, i, kind, discord.OutgoingMessage{Content: text, Private: true})
	})
}

// stopCommand handles /clank stop.
func (b *Bot) stopCommand(base context.Context, i *discordgo.Interaction, who person) {
	scope := cancel.Scope{Guild: i.GuildID, Channel: i.ChannelID}
	stopped, refused := b.Scopes.Stop(scope, who.actor(who.bits), b.Host.AnyoneMayStop())
	b.logStop(scope, who, stopped, refused)
	private := len(stopped) == 0
	m := discord.OutgoingMessage{Content: stopText(b.localeOf(i, who, private), who, stopped, refused), Private: private}
	b.runShort(base, func(ctx context.Context) {
		b.respond(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, m)
	})
}

// respond responds to an interaction that is not work, privately where the bot is not a member. If Discord no longer
// accepts a response, it is sent as a message. Deferred responses are sent by [Bot.editAnswer].
func (b *Bot) respond(ctx context.Context, i *discordgo.Interaction, kind discordgo.InteractionResponseType,
	m discord.OutgoingMessage,
) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout)
	defer cancel()
	m.Private = m.Private || isAway(i)
	err := b.rest.Respond(ctx, i, kind, m)
	switch {
	case err == nil:
	case kind == discordgo.InteractionResponseDeferredChannelMessageWithSource,
		kind == discordgo.InteractionResponseDeferredMessageUpdate:
		b.logger().Warn("interaction not acknowledged", "channel", i.ChannelID, "error", err)
	default:
		b.postUnanswered(ctx, i, m, err)
	}
}

// postUnanswered sends a response as a message if err means that Discord has forgotten the interaction. For lists and
// forms, which need an interaction, it asks the person to try again.
func (b *Bot) postUnanswered(ctx context.Context, i *discordgo.Interaction, m discord.OutgoingMessage, err error) {
	b.logger().Warn("interaction not answered", "channel", i.ChannelID, "error", err)
	if who, ok := personOf(i); ok && discord.IsCode(err, discord.CodeUnknownInteraction) {
		b.answerLate(ctx, i, who, m.Private, cmp.Or(m.Content, who.locale.T(busyText)))
	}
}

func (b *Bot) logStop(scope cancel.Scope, who person, stopped, refused []cancel.Work) {
	b.logger().Info("stop", "channel", scope.Channel, "by", who.id, "stopped", len(stopped), "refused", len(refused))
}

// actor returns the person as someone who wants to stop work.
func (p person) actor(bits int64) cancel.Actor {
	a := cancel.Actor{ID: p.id, Moderator: bits&moderatorBits != 0}
	if p.name != "" { // of a reaction to a direct message only the id is known
		a.Name = "@" + p.name
	}
	return a
}

// moderatorBits are the permissions with which people may stop the work of others.
const moderatorBits = discordgo.PermissionManageMessages | discordgo.PermissionAdministrator

// stopText returns the result of a stop. It mentions other people's work only to those who could stop nothing.
func stopText(loc i18n.Locale, who person, stopped, refused []cancel.Work) string {
	others := slices.DeleteFunc(workOwners(stopped), func(id string) bool { return id == who.id })
	switch {
	case len(others) > 0:
		return loc.T("%s stopped what %s asked for.", discord.EscapeLine(who.name, 80), mentionList(others))
	case len(stopped) > 0:
		return loc.T("Stopped.")
	case len(refused) > 0:
		return refusedText(loc, workOwners(refused))
	}
	return loc.T("Nothing is running here.")
}

// refusedText returns who may stop work.
func refusedText(loc i18n.Locale, owners []string) string {
	who := mentionList(slices.DeleteFunc(owners, func(id string) bool { return id == "" }))
	return loc.T("Only %s, or somebody who may manage messages here, can stop that.",
		cmp.Or(who, loc.T("the person who asked")))
}

// workOwners returns the ids of the people who requested works, without duplicates.
func workOwners(works []cancel.Work) []string {
	var ids []string
	for _, w := range works {
		if !slices.Contains(ids, w.Owner) {
			ids = append(ids, w.Owner)
		}
	}
	return ids
}

// mentionList returns ids as mentions, which notify nobody.
func mentionList(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = "<@" + id + ">"
	}
	return strings.Join(names, ", ")
}

func mergeWork(a, b []cancel.Work) []cancel.Work { return append(slices.Clone(a), b...) }
