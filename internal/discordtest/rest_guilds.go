package discordtest

import (
	"strings"
)

func (s *Server) getGateway(*call) (any, error) {
	return map[string]any{"url": s.gatewayURL()}, nil
}

func (s *Server) getGatewayBot(*call) (any, error) {
	return map[string]any{
		"url": s.gatewayURL(), "shards": 1,
		"session_start_limit": map[string]any{
			"total": 1000, "remaining": s.startsLeft(), "reset_after": 86400000, "max_concurrency": 1,
		},
	}, nil
}

func (s *Server) gatewayURL() string { return "ws" + strings.TrimPrefix(s.URL, "http") }

func (s *Server) getUser(c *call) (any, error) {
	id := c.PathValue("user")
	if id == "@me" {
		return c.bot.user, nil
	}
	u, ok := s.users[id]
	if !ok {
		return nil, errUnknownUser
	}
	return u, nil
}

func (s *Server) getApplication(c *call) (any, error) {
	return map[string]any{
		"id": c.bot.user.ID, "name": c.bot.user.Username, "bot": c.bot.user, "flags": 0,
		"description": "", "icon": nil, "bot_public": true, "bot_require_code_grant": false,
	}, nil
}

func (s *Server) getOwnGuilds(c *call) (any, error) {
	list := []map[string]any{}
	for _, g := range s.guildsOf(c.bot.user.ID) {
		m := g.member(c.bot.user.ID)
		list = append(list, map[string]any{
			"id": g.ID, "name": g.Name, "icon": nil, "owner": g.OwnerID == m.User.ID,
			"permissions": g.base(m), "features": []string{},
		})
	}
	return list, nil
}

// guildFor finds the guild of the request; the bot must be in it.
func (s *Server) guildFor(c *call) (*guild, error) {
	g := s.guilds[c.PathValue("guild")]
	switch {
	case g == nil:
		return nil, errUnknownGuild
	case g.member(c.bot.user.ID) == nil:
		return nil, errMissingAccess
	}
	return g, nil
}

func (s *Server) getGuild(c *call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return guildObject(g), nil
}

// guildObject is a guild without what only GUILD_CREATE has.
func guildObject(g *guild) map[string]any {
	return map[string]any{
		"id": g.ID, "name": g.Name, "owner_id": g.OwnerID, "roles": g.roles, "icon": nil,
		"emojis": []any{}, "stickers": []any{}, "features": []string{}, "preferred_locale": "en-US",
		"verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"mfa_level": 0, "premium_tier": 0, "nsfw_level": 0, "afk_timeout": 300, "system_channel_flags": 0,
	}
}

func (s *Server) getGuildChannels(c *call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return s.channelsOf(g, false), nil
}

// channelsOf lists the guild's channels, or its threads.
func (s *Server) channelsOf(g *guild, threads bool) []*Channel {
	list := []*Channel{}
	for _, id := range g.channels {
		if ch := s.channels[id]; (ch.Type == PublicThread) == threads {
			list = append(list, ch)
		}
	}
	return list
}

func (s *Server) getRoles(c *call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return g.roles, nil
}

func (s *Server) getMember(c *call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	m := g.member(c.PathValue("user"))
	if m == nil {
		return nil, errUnknownMember
	}
	return m, nil
}

func (s *Server) getChannel(c *call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	return ch, nil
}

func (s *Server) createDM(c *call) (any, error) {
	var b struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := decode(c.body, &b); err != nil {
		return nil, err
	}
	u, ok := s.users[b.RecipientID]
	switch {
	case b.RecipientID == "":
		return nil, formError("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
	case !ok:
		return nil, errUnknownUser
	case u.Bot:
		return nil, errCannotDM
	}
	return s.conversation(c.bot.user.ID, u), nil
}

// conversation finds or makes the direct channel of a bot and a person.
func (s *Server) conversation(bot string, user User) *Channel {
	for _, ch := range s.channels {
		if ch.Type == DirectMessage && ch.botID == bot && ch.Recipients[0].ID == user.ID {
			return ch
		}
	}
	ch := &Channel{ID: s.newID(), Type: DirectMessage, Recipients: []User{user}, botID: bot}
	s.channels[ch.ID] = ch
	return ch
}

func (s *Server) startThread(c *call) (any, error) {
	parent, err := s.channelFor(c, CreateThreads)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, parent)
	if err != nil {
		return nil, err
	}
	var b struct {
		Name string `json:"name"`
	}
	if err := decode(c.body, &b); err != nil {
		return nil, err
	}
	var f formErrors
	f.length("name", b.Name, 1, 100)
	if err := f.err(); err != nil {
		return nil, err
	}
	if s.channels[r.ID] != nil {
		return nil, refuse(400, 160004, "A thread has already been created for this message")
	}
	id := parent.ID
	ch := &Channel{ID: r.ID, Type: PublicThread, GuildID: parent.GuildID, ParentID: &id, Name: b.Name}
	s.addChannel(ch)
	r.Flags |= FlagHasThread
	s.dispatchMessage("MESSAGE_UPDATE", r)
	return created{ch}, nil
}
