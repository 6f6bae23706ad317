package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime/debug"
	"sync"
	"time"

	"clank/internal/i18n"

	"github.com/bwmarrin/discordgo"
)

// dispatch handles a dispatch of the gateway. It runs on the gateway's goroutine: it updates state and stops work,
// which only takes memory, and starts everything else in goroutines of the bot. base is the context of that work.
func (b *Bot) dispatch(base context.Context, shard int, kind string, data json.RawMessage) {
	since := b.lastHeard[shard]
	b.lastHeard[shard] = time.Now()
	switch kind {
	case "READY":
		b.learnSelf(data)
		b.reportServers(base, shard, data)
		if !since.IsZero() {
			b.runShort(base, func(ctx context.Context) { b.findMissedStops(ctx, base, shard, since) })
		}
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_REACTION_ADD", "INTERACTION_CREATE":
		b.takeEvent(base, kind, data)
	case "GUILD_CREATE":
		b.guilds.Update(kind, data)
		b.reportServers(base, -1, json.RawMessage(`{"guilds":[`+string(data)+`]}`))
	case "CHANNEL_DELETE", "THREAD_DELETE", "GUILD_DELETE":
		b.guilds.Update(kind, data)
		var gone struct {
			ID          string
			Unavailable bool
		}
		if json.Unmarshal(data, &gone) == nil && !gone.Unavailable {
			b.activeProgress.refresh(gone.ID)
			delete(b.onServers, gone.ID)
			if kind == "GUILD_DELETE" && gone.ID != "" {
				b.runShort(base, func(ctx context.Context) { b.Host.HandleLeave(ctx, gone.ID) })
			}
		}
	default:
		b.guilds.Update(kind, data)
	}
}

// takeEvent handles a message or an interaction. It may be called from any goroutine.
func (b *Bot) takeEvent(base context.Context, kind string, data json.RawMessage) {
	switch kind {
	case "MESSAGE_CREATE":
		m, err := readMessage(data)
		if err != nil {
			b.logger().Warn("message cannot be read", "error", err)
		}
		if m != nil && !b.handled.Add(m.ID) {
			b.onMessage(base, m)
		}
	case "MESSAGE_UPDATE":
		if m, _ := readMessage(data); m != nil {
			b.onEdit(base, m)
		}
	case "MESSAGE_REACTION_ADD":
		var r discordgo.MessageReactionAdd
		if err := json.Unmarshal(data, &r); err != nil || r.MessageReaction == nil {
			b.logger().Warn("reaction cannot be read", "error", err)
			return
		}
		b.onReaction(base, r)
	case "INTERACTION_CREATE":
		i, err := readInteraction(data)
		if err != nil || i == nil {
			b.logger().Warn("interaction cannot be read", "error", err)
			return
		}
		if !b.handled.Add(i.ID) {
			b.onInteraction(base, i)
		}
	}
}

// reportServers reports the servers of a new connection, or, if shard is negative, one that the bot has joined.
func (b *Bot) reportServers(base context.Context, shard int, data json.RawMessage) {
	var on struct {
		Guilds []struct {
			ID string `json:"id"`
		} `json:"guilds"`
	}
	if json.Unmarshal(data, &on) != nil {
		return
	}
	var guilds []string
	for _, g := range on.Guilds {
		if shard >= 0 || !b.onServers[g.ID] {
			guilds = append(guilds, g.ID)
		}
		b.onServers[g.ID] = true
	}
	var hears func(string) bool
	if shard >= 0 {
		hears = func(guild string) bool { return b.gateway.Of(guild) == shard }
	}
	if hears != nil || len(guilds) > 0 {
		b.runShort(base, func(ctx context.Context) { b.Host.HandleServers(ctx, b.UserID(), guilds, hears) })
	}
}

// readMessage decodes a message. If the library cannot decode parts of it, the error is set, and the message has its
// text and origin.
func readMessage(data json.RawMessage) (*discordgo.Message, error) {
	var m *discordgo.Message
	err := json.Unmarshal(data, &m)
	if err == nil {
		return m, nil
	}
	var plain struct {
		ID        string                `json:"id"`
		ChannelID string                `json:"channel_id"`
		GuildID   string                `json:"guild_id"`
		Type      discordgo.MessageType `json:"type"`
		Content   string                `json:"content"`
		WebhookID string                `json:"webhook_id"`
		Author    *discordgo.User       `json:"author"`
		Member    *discordgo.Member     `json:"member"`
		Mentions  []*discordgo.User     `json:"mentions"`
		Edited    *time.Time            `json:"edited_timestamp"`
	}
	if json.Unmarshal(data, &plain) != nil {
		return nil, err
	}
	return &discordgo.Message{
		ID: plain.ID, ChannelID: plain.ChannelID, GuildID: plain.GuildID, Type: plain.Type, Content: plain.Content,
		WebhookID: plain.WebhookID, Author: plain.Author, Member: plain.Member, Mentions: plain.Mentions,
		EditedTimestamp: plain.Edited,
	}, err
}

// readInteraction decodes an interaction. If the library cannot decode the components of the message that it refers to,
// possibly another bot's, they are left out.
func readInteraction(data json.RawMessage) (*discordgo.Interaction, error) {
	var i *discordgo.Interaction
	err := json.Unmarshal(data, &i)
	if err == nil {
		return i, nil
	}
	type object map[string]json.RawMessage
	var whole, inner object
	var resolved map[string]map[string]object
	if json.Unmarshal(data, &whole) != nil || json.Unmarshal(whole["data"], &inner) != nil ||
		json.Unmarshal(inner["resolved"], &resolved) != nil {
		return nil, err
	}
	for _, m := range resolved["messages"] {
		for _, part := range []string{"components", "referenced_message", "message_snapshots"} {
			delete(m, part)
		}
	}
	for _, put := range []struct {
		in  object
		key string
		v   any
	}{{inner, "resolved", resolved}, {whole, "data", inner}} {
		if put.in[put.key], err = json.Marshal(put.v); err != nil {
			return nil, err
		}
	}
	again, err := json.Marshal(whole)
	if err == nil {
		err = json.Unmarshal(again, &i)
	}
	return i, err
}

// rememberedIDs is how many of the newest messages and interactions are known again.
const rememberedIDs = 2000

// recentIDs are the ids of recently handled events. The zero value is ready and safe for concurrent use.
type recentIDs struct {
	mu    sync.Mutex
	known map[string]struct{}
	order []string
}

// Add remembers an id, and reports whether it was there already.
func (r *recentIDs) Add(id string) (repeated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, repeated = r.known[id]; repeated || id == "" {
		return repeated
	}
	if r.known == nil {
		r.known = make(map[string]struct{})
	}
	if len(r.order) == rememberedIDs {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[id] = struct{}{}
	r.order = append(r.order, id)
	return false
}

func (b *Bot) learnSelf(data json.RawMessage) {
	var r struct {
		User        *discordgo.User `json:"user"`
		Application struct {
			ID string `json:"id"`
		} `json:"application"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.User == nil {
		b.logger().Error("discord did not say who the bot is", "error", err)
		return
	}
	b.mu.Lock()
	b.botIdentity = identity{user: r.User.ID, name: r.User.Username, app: cmp.Or(r.Application.ID, r.User.ID)}
	b.mu.Unlock()
	b.logger().Info("connected to discord", "user", r.User.ID, "name", r.User.Username)
}

// onInteraction sorts interactions. What it does not know is answered where
// Discord waits for an answer, and otherwise left alone.
func (b *Bot) onInteraction(base context.Context, i *discordgo.Interaction) {
	who, ok := personOf(i)
	if !ok {
		b.logger().Warn("interaction of nobody", "type", int(i.Type))
		return
	}
	switch data := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		b.onButton(base, i, data, who)
	case discordgo.ModalSubmitInteractionData:
		b.onForm(base, i, data, who)
	case discordgo.ApplicationCommandInteractionData:
		if i.Type == discordgo.InteractionApplicationCommandAutocomplete {
			b.onTyping(base, i, data, who)
			return
		}
		b.onCommand(base, i, data, who)
	default:
		b.logger().Info("interaction of an unknown kind", "type", int(i.Type))
	}
}

// startWork runs f in a goroutine, or busy if there is too much work.
func (b *Bot) startWork(base context.Context, f, busy func(context.Context)) {
	if b.jobs.Start(false, func() { b.recoverPanic(base, f) }) {
		return
	}
	b.runShort(base, busy)
}

// runShort runs f as something short.
func (b *Bot) runShort(base context.Context, f func(context.Context)) {
	if !b.jobs.Start(true, func() { b.recoverPanic(base, f) }) {
		b.logger().Warn("something was left undone: the bot is closing or has too much to do")
	}
}

// recoverPanic runs f and survives its panic.
func (b *Bot) recoverPanic(ctx context.Context, f func(context.Context)) {
	defer func() {
		if r := recover(); r != nil {
			b.logger().Error("handler panicked", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	f(ctx)
}

// person is a person who makes a request.
type person struct {
	id, name string
	roles    []string
	bits     int64       // permissions in the channel; interactions only
	away     bool        // they use the bot where it is not a member
	locale   i18n.Locale // the person's language, or that of the server if unknown
}

// personOf returns the user of an interaction: a member of a guild, or a user in a direct channel. It returns false for
// a bot.
func personOf(i *discordgo.Interaction) (person, bool) {
	u, p := i.User, person{}
	switch {
	case i.Member != nil && i.Member.User != nil:
		u = i.Member.User
		p = personFrom(u, i.Member.Nick)
		p.roles, p.bits = i.Member.Roles, i.Member.Permissions
	case u != nil:
		p = personFrom(u, "")
	default:
		return p, false
	}
	p.locale = i18n.Locale(i.Locale)
	if isAway(i) {
		// Messages there are only for this person, as in direct messages.
		p.away, p.roles, p.bits, i.GuildID = true, nil, 0, ""
	}
	return p, p.id != "" && !u.Bot
}

// isAway reports whether the bot is no member of where i comes from: its person has installed it for themselves.
func isAway(i *discordgo.Interaction) bool {
	_, installed := i.AuthorizingIntegrationOwners[discordgo.ApplicationIntegrationUserInstall]
	_, member := i.AuthorizingIntegrationOwners[discordgo.ApplicationIntegrationGuildInstall]
	return installed && !member && i.Context != discordgo.InteractionContextBotDM
}

func personFrom(u *discordgo.User, nick string) person {
	return person{id: u.ID, name: cmp.Or(nick, u.GlobalName, u.Username)}
}
