package discord

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// GuildCache caches roles and channels from the gateway, so that rights to stop work are known without requests. The
// zero value is ready.
type GuildCache struct {
	mu     sync.Mutex
	guilds map[string]*guildInfo
}

type guildInfo struct {
	name     string
	owner    string
	locale   string // preferred_locale
	tier     discordgo.PremiumTier
	roles    map[string]roleInfo
	channels map[string]channelInfo
}

type roleInfo struct {
	name string
	bits int64 // permissions
}

type channelInfo struct {
	name       string
	kind       discordgo.ChannelType
	parent     string // of a thread, which has the permissions of its parent
	overwrites []*discordgo.PermissionOverwrite
}

// Named is a server, channel or role with what people call it.
type Named struct{ ID, Name string }

// Guilds returns the servers that are known, by name.
func (c *GuildCache) Guilds() []Named {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Named
	for id, g := range c.guilds {
		list = append(list, Named{id, g.name})
	}
	return byName(list)
}

// Parts returns the channels of a server in which people write, without threads, and its roles, by name; none if the
// server is unknown.
func (c *GuildCache) Parts(guild string) (channels, roles []Named) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guild]
	if g == nil {
		return nil, nil
	}
	for id, ch := range g.channels {
		if ch.parent == "" && ch.kind != discordgo.ChannelTypeGuildCategory {
			channels = append(channels, Named{id, ch.name})
		}
	}
	for id, r := range g.roles {
		if id != guild { // which everyone has
			roles = append(roles, Named{id, r.name})
		}
	}
	return byName(channels), byName(roles)
}

func byName(list []Named) []Named {
	slices.SortFunc(list, func(a, b Named) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Update updates the cache from a dispatch; it ignores those that are not about guilds or cannot be decoded.
func (c *GuildCache) Update(kind string, data json.RawMessage) {
	switch kind {
	case "GUILD_CREATE", "GUILD_UPDATE":
		var g discordgo.Guild
		if json.Unmarshal(data, &g) == nil && g.ID != "" && !g.Unavailable {
			c.PutGuild(&g, kind == "GUILD_CREATE")
		}
	case "GUILD_DELETE":
		var g struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(data, &g) == nil {
			c.mu.Lock()
			delete(c.guilds, g.ID)
			c.mu.Unlock()
		}
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		c.updateRole(data)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var ch discordgo.Channel
		if json.Unmarshal(data, &ch) == nil {
			c.PutChannel(&ch)
		}
	case "THREAD_LIST_SYNC": // of channels that the bot sees from now on
		var list struct {
			Guild   string               `json:"guild_id"`
			Threads []*discordgo.Channel `json:"threads"`
		}
		if json.Unmarshal(data, &list) == nil {
			for _, ch := range list.Threads {
				if ch != nil {
					ch.GuildID = list.Guild
					c.PutChannel(ch)
				}
			}
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var ch struct {
			ID    string `json:"id"`
			Guild string `json:"guild_id"`
		}
		if json.Unmarshal(data, &ch) == nil {
			c.mu.Lock()
			if g := c.guilds[ch.Guild]; g != nil {
				delete(g.channels, ch.ID)
			}
			c.mu.Unlock()
		}
	}
}

func (c *GuildCache) updateRole(data json.RawMessage) {
	var r struct {
		Guild  string          `json:"guild_id"`
		Role   *discordgo.Role `json:"role"`
		RoleID string          `json:"role_id"`
	}
	if json.Unmarshal(data, &r) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[r.Guild]
	switch {
	case g == nil:
	case r.Role != nil:
		g.roles[r.Role.ID] = roleInfo{r.Role.Name, r.Role.Permissions}
	default:
		delete(g.roles, r.RoleID)
	}
}

// PutGuild stores a guild. Its channels replace the known ones if whole is set.
func (c *GuildCache) PutGuild(g *discordgo.Guild, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.guilds == nil {
		c.guilds = make(map[string]*guildInfo)
	}
	info := &guildInfo{
		name: g.Name, owner: g.OwnerID, locale: g.PreferredLocale, tier: g.PremiumTier, roles: make(map[string]roleInfo),
		channels: make(map[string]channelInfo),
	}
	for _, r := range g.Roles {
		if r != nil {
			info.roles[r.ID] = roleInfo{r.Name, r.Permissions}
		}
	}
	if old := c.guilds[g.ID]; old != nil && !whole {
		info.channels = old.channels
	}
	for _, chs := range [][]*discordgo.Channel{g.Channels, g.Threads} {
		for _, ch := range chs {
			if ch != nil {
				info.channels[ch.ID] = newChannelInfo(ch)
			}
		}
	}
	c.guilds[g.ID] = info
}

// Locale returns the language that a guild prefers; empty if it is not known.
func (c *GuildCache) Locale(guild string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.guilds[guild]; g != nil {
		return g.locale
	}
	return ""
}

// Parent returns the channel that a thread is part of; empty if the channel is none, or is not known.
func (c *GuildCache) Parent(guild, channel string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guild]
	if g == nil {
		return ""
	}
	return g.channels[channel].parent
}

// ChannelName returns what a channel or thread is called; empty if it is not known.
func (c *GuildCache) ChannelName(guild, channel string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.guilds[guild]; g != nil {
		return g.channels[channel].name
	}
	return ""
}

// UploadLimit returns the maximum size of a file in a guild, which depends on its boosts; "" means a direct message.
func (c *GuildCache) UploadLimit(guild string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.guilds[guild]; g != nil {
		switch g.tier {
		case discordgo.PremiumTier2:
			return 50 << 20
		case discordgo.PremiumTier3:
			return 100 << 20
		case discordgo.PremiumTierNone, discordgo.PremiumTier1:
		}
	}
	return 10 << 20
}

// GuildOf returns the guild that a channel is part of; empty if the channel is not known.
func (c *GuildCache) GuildOf(channel string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, g := range c.guilds {
		if _, ok := g.channels[channel]; ok {
			return id
		}
	}
	return ""
}

// PutChannel stores a channel of a guild that is known.
func (c *GuildCache) PutChannel(ch *discordgo.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.guilds[ch.GuildID]; g != nil && ch.ID != "" {
		g.channels[ch.ID] = newChannelInfo(ch)
	}
}

// ThreadParent returns the channel that a thread is part of; empty if ch is none.
func ThreadParent(ch *discordgo.Channel) string {
	if ch.IsThread() {
		return ch.ParentID
	}
	return ""
}

func newChannelInfo(ch *discordgo.Channel) channelInfo {
	return channelInfo{name: ch.Name, kind: ch.Type, parent: ThreadParent(ch), overwrites: ch.PermissionOverwrites}
}

// Permissions returns the bits that a member with these roles has in a channel. known
// is false if the guild or the channel is not known. The order is Discord's:
// everybody's role, the member's roles, then the channel's overwrites for
// everybody, for the roles, and for the member.
func (c *GuildCache) Permissions(guild, channel, user string, roles []string) (bits int64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guild]
	if g == nil {
		return 0, false
	}
	return g.channelBits(g.memberBits(guild, user, roles), guild, channel, user, roles)
}

// memberBits returns what a member's roles allow everywhere on the server.
func (g *guildInfo) memberBits(guild, user string, roles []string) int64 {
	if user != "" && user == g.owner {
		return discordgo.PermissionAll
	}
	bits := g.roles[guild].bits
	for _, r := range roles {
		bits |= g.roles[r].bits
	}
	if bits&discordgo.PermissionAdministrator != 0 {
		return discordgo.PermissionAll
	}
	return bits
}

// channelBits applies the permission overwrites of a channel to a member's bits.
func (g *guildInfo) channelBits(bits int64, guild, channel, user string, roles []string) (_ int64, known bool) {
	if bits == discordgo.PermissionAll {
		return bits, true
	}
	ch, ok := g.channels[channel]
	if ok && ch.parent != "" {
		ch, ok = g.channels[ch.parent]
	}
	if !ok {
		return 0, false
	}
	return applyOverwrites(bits, ch.overwrites, guild, user, roles), true
}

// Readable is a channel, or a thread of Parent, with a member's permissions there.
type Readable struct {
	ID, Parent string
	Bits       int64
}

// Readable returns the channels and threads whose messages a member with these roles can read, including earlier ones,
// and the member's permissions on the server. Private threads are included only for members who manage threads: who
// else was added to them is unknown.
func (c *GuildCache) Readable(guild, user string, roles []string) (list []Readable, bits int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guild]
	if g == nil {
		return nil, 0
	}
	bits = g.memberBits(guild, user, roles)
	for id, ch := range g.channels {
		need := int64(discordgo.PermissionViewChannel | discordgo.PermissionReadMessageHistory)
		if ch.kind == discordgo.ChannelTypeGuildPrivateThread {
			need |= discordgo.PermissionManageThreads
		}
		here, _ := g.channelBits(bits, guild, id, user, roles)
		if here&need == need || here&discordgo.PermissionAdministrator != 0 {
			list = append(list, Readable{id, ch.parent, here})
		}
	}
	return list, bits
}

func applyOverwrites(bits int64, list []*discordgo.PermissionOverwrite, everybody, user string, roles []string) int64 {
	held := map[string]bool{}
	for _, r := range roles {
		held[r] = true
	}
	var allow, deny, ownAllow, ownDeny int64
	for _, o := range list {
		switch {
		case o == nil:
		case o.Type == discordgo.PermissionOverwriteTypeRole && o.ID == everybody:
			bits = bits&^o.Deny | o.Allow
		case o.Type == discordgo.PermissionOverwriteTypeRole && held[o.ID]:
			allow, deny = allow|o.Allow, deny|o.Deny
		case o.Type == discordgo.PermissionOverwriteTypeMember && o.ID == user:
			ownAllow, ownDeny = o.Allow, o.Deny
		}
	}
	bits = bits&^deny | allow
	return bits&^ownDeny | ownAllow
}
