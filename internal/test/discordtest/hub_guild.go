package discordtest

import "strings"

// GatewayURL returns where clients connect to the main gateway.
func (s *hub) GatewayURL() string { return "ws" + strings.TrimPrefix(s.URL, "http") }

// GuildObject returns a guild without what only GUILD_CREATE has.
func GuildObject(g *GuildState) map[string]any {
	return map[string]any{
		"id": g.ID, "name": g.Name, "owner_id": g.OwnerID, "roles": g.Roles, "icon": nil,
		"emojis": []any{}, "stickers": []any{}, "features": []string{}, "preferred_locale": "en-US",
		"verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"mfa_level": 0, "premium_tier": 0, "nsfw_level": 0, "afk_timeout": 300, "system_channel_flags": 0,
	}
}

// ChannelsOf lists the guild's channels, or its threads.
func (s *hub) ChannelsOf(g *GuildState, threads bool) []*Channel {
	list := []*Channel{}
	for _, id := range g.Channels {
		if ch := s.Channels[id]; (ch.Type == PublicThread) == threads {
			list = append(list, ch)
		}
	}
	return list
}

// AddChannel puts a channel or a thread into its guild, and tells of it.
func (s *hub) AddChannel(ch *Channel) {
	s.Channels[ch.ID] = ch
	g := s.Guilds[ch.GuildID]
	g.Channels = append(g.Channels, ch.ID)
	event := "CHANNEL_CREATE"
	if ch.Type == PublicThread {
		event = "THREAD_CREATE"
	}
	s.DispatchIn(ch, event, ch)
	s.Notify()
}
